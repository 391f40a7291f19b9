"""The folders that runs leave behind."""

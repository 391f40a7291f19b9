"""What an MCP server shows its clients, and how that changed. Pure but for the snapshot file."""

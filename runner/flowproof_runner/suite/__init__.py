"""What the specs of one folder share."""

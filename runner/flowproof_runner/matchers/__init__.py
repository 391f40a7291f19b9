"""What may be demanded of a JSON value, and whether it holds. Pure."""

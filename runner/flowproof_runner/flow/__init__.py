"""One flow from end to end."""

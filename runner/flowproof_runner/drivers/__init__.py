"""What starts an agent and waits for it to end."""

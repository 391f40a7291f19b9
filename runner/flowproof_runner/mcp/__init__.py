"""MCP servers on the runner's side: what a session is told of them, and their lanes as evidence."""

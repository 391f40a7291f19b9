"""Where the agent lives for one run: a home, a workspace and a clock of its own."""

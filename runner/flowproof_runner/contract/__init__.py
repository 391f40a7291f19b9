"""Contract files: a scenario, its fixtures and its expectations in one file, run over an adapter."""

"""YAML that people write, read into checked values with every mistake in its place."""

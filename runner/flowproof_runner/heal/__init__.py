"""Traces compared, and cassettes brought up to date with an agent that has changed."""

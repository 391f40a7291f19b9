"""The controls that flows are evidence for, and their audit over past runs."""

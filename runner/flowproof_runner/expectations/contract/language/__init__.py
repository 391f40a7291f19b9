"""The contract language: text and YAML to expectations, and back to their canonical form."""

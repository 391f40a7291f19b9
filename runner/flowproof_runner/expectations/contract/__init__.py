"""Contracts: what must hold of a run, as one AST that prose, YAML and imported files share, judged over evidence."""

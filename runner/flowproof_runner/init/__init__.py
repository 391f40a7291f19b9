"""`flowproof init`: a first spec and what a repository needs around it."""

"""What the terms and formulas of a contract come to in one run."""

"""What crossed the boundary: values, their file format, and what is never written."""

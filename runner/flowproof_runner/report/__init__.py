"""Reports: each a function from results to text. They print nothing and read nothing."""

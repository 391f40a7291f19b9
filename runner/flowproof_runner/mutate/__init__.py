"""How much would these checks catch? Recorded evidence, changed as a faulty agent would change it, judged again."""

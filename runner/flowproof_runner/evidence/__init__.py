"""One ordered stream of what was observed, whatever driver or lane it came from."""

"""The boundary seen from the runner: mitmdump started ahead, spoken to over its control socket."""

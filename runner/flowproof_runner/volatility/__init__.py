"""What varies from run to run: found by running twice, written into the spec as pins."""

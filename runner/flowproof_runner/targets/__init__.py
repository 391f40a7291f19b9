"""What the user named: specs, flows, traces."""

"""What is known of the clients that agents are: one YAML file each, the only place where they are named."""

"""What can be known of specs without running anything."""

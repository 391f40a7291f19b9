"""Many flows over one boundary, shown while they run and reported when they have."""

"""A conversation authored by having it: `flowproof record --interactive`."""

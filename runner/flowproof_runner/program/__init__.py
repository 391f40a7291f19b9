"""flowproof as a process among others: its streams, its signals, the files it writes."""

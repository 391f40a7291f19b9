"""Pure evaluation: evidence and a spec's expectations in, findings out. Nothing here does IO."""

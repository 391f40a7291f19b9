"""One small pure module per model API, behind the `Dialect` protocol."""

"""One module for each kind of expectation: evidence in, rulings out."""

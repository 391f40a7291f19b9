"""Which recording answers a request, and what to say when none does."""

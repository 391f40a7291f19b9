"""The one error a user can act on."""


class FlowproofError(Exception):
    """Something the user can mend: the message says what happened, where, and what to do.

    Each subclass lives beside the code that raises it. Any other exception is a bug of ours and is let fly.
    """

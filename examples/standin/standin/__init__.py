"""A model stand-in; `../model.py` starts it and describes its script."""

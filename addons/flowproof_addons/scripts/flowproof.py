from flowproof_addons.suite import addons

__all__ = ["addons"]

"""The report that people open in a browser: one page, nothing loaded from anywhere."""

from flowproof_runner.report.html.page import render

__all__ = ["render"]

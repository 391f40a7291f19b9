"""flowproof outside mitmproxy."""

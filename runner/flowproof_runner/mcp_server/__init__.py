"""flowproof's runs as tools of an MCP client."""

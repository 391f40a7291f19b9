"""The MCP boundary: one lane per server, recorded and replayed."""

"""The MCP server: its tools, transports and allowed paths."""

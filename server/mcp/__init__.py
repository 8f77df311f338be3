"""The MCP server: its tools, transports and allowed paths."""

__all__ = ["allowed_paths", "app"]

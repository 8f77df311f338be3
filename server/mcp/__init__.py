"""The MCP server: tools, transports, allowed paths."""

__all__ = ["allowed_paths", "app"]

"""Surfaces of CQM: the MCP server, the command line, settings and the file watcher."""

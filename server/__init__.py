"""People and agents come in here: the MCP server, the command line, settings and the file watcher."""

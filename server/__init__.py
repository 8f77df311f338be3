"""What people and agents touch: the MCP server, the command line, settings and the file watcher."""

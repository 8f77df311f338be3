"""The paragraph which tells agents when to use CQM."""

PARAGRAPH = """\
## Finding code

The MCP server `cqm` searches this machine's projects. Use it before grep, and before reading whole files:

- `search` takes a question in plain words, a symbol, an error message or a path, and answers with files and lines.
- `usages` tells where a symbol is defined, and who calls it.
- `outline` lists the symbols of a file, or maps a folder; `read` shows one symbol or some lines.

Use grep for an exact text which you know. In a shell, `cqm search "your question"` does the same."""

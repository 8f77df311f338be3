"""Programs to chunks: a symbol a piece, from the syntax tree of their language."""

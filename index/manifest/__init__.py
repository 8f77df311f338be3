"""Record in SQLite what the index knows of every file and chunk."""

"""Turn bytes into chunks with pure functions: no files, network, database or clock."""

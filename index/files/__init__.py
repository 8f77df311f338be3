"""Read the tree on disk: files in scope, ignore rules, reasons for skipping, git's data."""

"""Read a folder tree: ignore rules, reasons for skipping files, git's files, file contents."""

"""Store an index on disk safely: its location and lock, private files, durable writes, checksums."""

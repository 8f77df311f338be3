"""Place an index on disk safely: locations, locks, private files, durable writes, checksums."""

"""Store an index on disk safely: its location and lock, private files, durable writes, checksums."""

__all__ = ["beneath", "checksums", "durable", "locations", "lock", "private", "proof", "size"]

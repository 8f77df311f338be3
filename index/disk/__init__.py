"""Where an index lives, and safe ways to touch files: durable, private, below a descriptor."""

__all__ = ["beneath", "checksums", "durable", "locations", "private", "proof"]

"""Carry the index of a commit to another machine: one file with checksums, read as data of a stranger."""

__all__ = ["base", "records", "restore", "snapshot", "write"]

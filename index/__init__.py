"""Chunks to an index on disk that can be searched."""

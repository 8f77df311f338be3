"""Structured data to chunks: by key path, and OpenAPI by operation."""

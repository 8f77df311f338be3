"""Cut structured data into chunks: by key path, and OpenAPI by operation."""

__all__ = ["data", "entries", "key_paths", "openapi", "spans_of_json"]

"""Cut structured data into chunks: by key path, and OpenAPI by operation."""

__all__ = ["data", "entries", "openapi", "spans_of_json"]

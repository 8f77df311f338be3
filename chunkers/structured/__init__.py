"""Cut structured data into chunks: by key path, and OpenAPI by operation."""

__all__ = ["data", "openapi", "spans_of_json"]

"""Cut structured data into chunks: by key path, and OpenAPI by operation."""

"""Index chunks on disk and search them."""

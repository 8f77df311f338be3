"""Turn changes on disk into batches of paths to update."""

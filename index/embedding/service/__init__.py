"""Send texts to an embedding service in batches, within its limits and at its pace."""

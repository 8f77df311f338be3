"""Cut documents, logs and tables into chunks."""

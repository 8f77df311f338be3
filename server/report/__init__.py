"""Report how a tree is chunked."""

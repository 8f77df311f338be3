"""Report how a tree is chunked."""

__all__ = ["html", "report", "text"]

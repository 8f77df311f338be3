"""`cqm report`: measures of how a tree is chunked, as text and as a page."""

__all__ = ["html", "report", "text"]

"""Declare the commands of `cqm`: arguments, options and help; whatever is heavier is imported when one runs."""

__all__ = ["carrying", "cutting", "indexing", "issues", "measuring", "reading", "searching", "serving", "uses"]

"""`cqm preview`: the chunks of one file, as text, JSON, terminal output and page."""

__all__ = ["as_json", "choice", "html", "preview", "terminal", "text"]

"""Preview the chunks of one file as text, in the terminal, or on a page."""

__all__ = ["as_json", "choice", "html", "labels", "preview", "source", "style", "terminal", "text", "words"]

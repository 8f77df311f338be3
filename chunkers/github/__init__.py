"""Cut GitHub issues and pull requests, JSON of `gh ... --json` or the REST API, into pieces in Markdown."""

__all__ = ["pieces", "records"]

"""GitHub's issues and pull requests: JSON as `gh ... --json` and the REST API write it, to pieces in Markdown."""

__all__ = ["pieces", "records"]

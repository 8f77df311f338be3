"""Cut the issues, requests and discussions of GitHub, GitLab and Gitea, written as JSON, into pieces in Markdown."""

__all__ = ["pieces", "records"]

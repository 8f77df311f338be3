"""The tree on disk: ignore rules, reasons to skip, git's files, reading."""

__all__ = ["checkout", "git", "git_folder", "git_index", "listing", "scan"]

"""Read a folder tree: ignore rules, reasons for skipping files, git's files, file contents."""

__all__ = ["bounded", "checkout", "git", "git_folder", "git_index", "history", "ignore", "listed", "listing", "scan"]

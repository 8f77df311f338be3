"""Read what a grammar can't: blank it so that the rest has its tree, and tell by lines what it declares."""

__all__ = ["branches", "by_lines", "errors", "mending", "segments", "shown"]

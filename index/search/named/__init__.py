"""Find the things named in a question: definitions, foreign paths, file names, routes, traces and messages."""

__all__ = ["almost", "defining", "in_sentence", "named_paths", "named_places", "project_files", "routes", "tree_paths"]

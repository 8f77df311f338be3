"""Find what a question names: definitions, paths as others write them, names of files, routes, traces and messages."""

__all__ = ["almost", "defining", "in_sentence", "named_paths", "named_places", "project_files", "routes", "tree_paths"]

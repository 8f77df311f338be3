"""Turn changes on disk into batches of paths to update."""

__all__ = ["change_queue", "events", "watcher"]

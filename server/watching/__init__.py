"""Changes on disk to batches of paths."""

__all__ = ["change_queue", "events", "watcher"]

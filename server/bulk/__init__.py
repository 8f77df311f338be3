"""Make snapshots of many repositories, several at a time."""

__all__ = ["bulk", "listed", "work"]

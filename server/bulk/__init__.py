"""Make snapshots of many repositories, several at a time, each in a process of its own."""

__all__ = ["bulk", "listed"]

"""Read texts about files printed by tools: the forms of places, lists of files, lines quoted from them."""

__all__ = ["bodies", "builds", "commits", "forms", "heads", "listings", "messages", "quoted", "schedules", "traces"]

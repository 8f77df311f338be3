"""Routes: those that questions name, the patterns that programs declare, and how well one fits the other."""

__all__ = ["asked", "declared", "folders", "forms", "pattern", "services"]

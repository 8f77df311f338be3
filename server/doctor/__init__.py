"""`cqm doctor`: check the machine and every configured service."""

__all__ = ["doctor"]

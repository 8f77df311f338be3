"""`cqm doctor`: checks of the machine, the models and the services."""

__all__ = ["doctor"]

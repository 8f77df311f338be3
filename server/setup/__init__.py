"""Connect CQM to clients of agents on this machine, with an undo to the byte; and to shells."""

__all__ = ["clients", "completion", "machine", "setup"]

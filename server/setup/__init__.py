"""Connect CQM to the agents' clients of this machine: find them, write their files, check, and undo it all."""

__all__ = ["clients", "machine", "setup"]

"""Tell those who run a server how it does: counts for Prometheus, and logs as JSON."""

__all__ = ["logs", "metrics"]

"""Tell those who run a server how it does: counts for Prometheus, logs as JSON, traces for OpenTelemetry."""

__all__ = ["logs", "metrics", "traces"]

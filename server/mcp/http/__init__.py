"""Streamable HTTP: its server, the token and limits of clients, and what stands beside the tools for operators."""

__all__ = ["bodies", "rules", "serve"]

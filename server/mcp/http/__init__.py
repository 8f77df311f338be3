"""Streamable HTTP: its server, the token and limits of clients, and endpoints for operators beside the tools."""

__all__ = ["bodies", "rules", "serve"]

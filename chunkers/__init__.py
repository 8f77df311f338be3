"""Bytes to chunks: pure functions without files, network, database or clock."""

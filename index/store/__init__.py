"""Store vectors and payloads in Qdrant Edge or on a Qdrant server, behind one protocol."""

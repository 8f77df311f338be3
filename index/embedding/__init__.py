"""Texts to vectors: one seam, a row per provider."""

"""Which chunks a text is cut into, as a number; apart from what cuts, which takes its time to import."""

CHUNKER_VERSION = 2
"""Grows with every change that cuts some text otherwise, so that an index knows which files to chunk again."""

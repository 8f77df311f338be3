"""Shared parts of the pages CQM writes: colours for light and dark, cards, and escaped text."""

from html import escape

from cqm.server.console import visible

COLOURS = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #ffffff; --line: #e3e6ea; --text: #1c2127; --dim: #5f6873;
  --bar: #3b72d9; --track: #edf0f4; --over: #d97a3b; --note: #7d5800; --note-bg: #fbf0d5; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --card: #1c2026; --line: #2d333b; --text: #e4e8ed; --dim: #98a2ae;
    --bar: #6396f0; --track: #272d35; --over: #e59558; --note: #dfb04c; --note-bg: #382d14; } }
"""


def safe(text: str) -> str:
    """Escape foreign text for an element or an attribute."""
    return escape(visible(text))

"""Guess the symbols of languages without rules of their own: by types of nodes, or by lines without a grammar."""

from cqm.chunkers.languages.guessed.rows import ROWS, without_grammar

__all__ = ["ROWS", "without_grammar"]

"""Numbers of tokens given to the reader of the first results.

It is trained without CQM installed, so these stand here too; `cqm.index.rerank.reader` has the same.
"""

ASKED, HEADED, NAMED, TOLD, HEAD = 31, 24, 10, 128, 48
"""Tokens read of a question, of path and symbol together, of a symbol, and of a text; of a longer text, so many are its
first, the rest a window."""
STORED = 256
"""Tokens of a text among which the window is looked for."""
PAD, CLS, SPECIAL = 0, 1, 2
"""Numbers to fill and to begin, and the count of numbers before those of the static model's tokens."""

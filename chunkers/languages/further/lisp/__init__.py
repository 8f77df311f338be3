"""Hold the rows of Lisps: lists of symbols; the first symbol tells the form."""

from cqm.chunkers.languages.further.lisp import clojure, rows
from cqm.chunkers.languages.further.lisp.calls import USAGE

__all__ = ["ROWS", "USAGE"]

ROWS = (*clojure.ROWS, *rows.ROWS)

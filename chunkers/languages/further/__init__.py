"""Hold the rows of further programming languages, by family."""

from cqm.chunkers.languages.further import (
    dart,
    erlang,
    fortran,
    hardware,
    lisp,
    ml,
    numeric,
    pascal,
    scripts,
    shaders,
    solidity,
)

__all__ = ["ROWS"]

ROWS = (
    *dart.ROWS,
    *scripts.ROWS,
    *numeric.ROWS,
    *solidity.ROWS,
    *erlang.ROWS,
    *lisp.ROWS,
    *ml.ROWS,
    *fortran.ROWS,
    *hardware.ROWS,
    *pascal.ROWS,
    *shaders.ROWS,
)

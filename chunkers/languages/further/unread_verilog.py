"""Make calls of macros in SystemVerilog readable to its grammar, which takes arguments for expressions.

Positions and rows stay those of the text.
"""

import functools
import re

from cqm.chunkers.languages.model import blanked

_FLAT = rb"(?:[^()\"/\\]|\"(?:[^\"\\\n]|\\.)*+\"|//[^\n]*+|/(?!/))"
_NESTED = functools.reduce(lambda inner, _: rb"(?:" + _FLAT + rb"|\(" + inner + rb"*+\))", range(5), _FLAT)
_CALL = re.compile(rb"`[A-Za-z_]\w*(?P<arguments>[ \t]*\(" + _NESTED + rb"*+\))")
_NO_EXPRESSION = re.compile(
    rb"\|[-=]>|##|;|[,(]\s*[,)]|<=|\[\*"
    rb"|\b(?:wait|while|always|if|for|foreach|begin|fork|disable|repeat|not|until\w*|throughout|s_eventually|iff|inside|dist)\b"
)
_SIZED = re.compile(rb"(?<=')[sS]?[bodhBODH][ \t]*(?P<macro>`\w+)")
_MEMBER = re.compile(rb"(?<=[\w\])]\.)`(?=\w)|(?<![\w`])`(?=\w+\.\w)")
_FATAL = re.compile(rb"\$fatal[ \t]*\([ \t]*(?P<number>[012][ \t]*,?)")


def readable_verilog(source: bytes) -> bytes:
    """Return readable SystemVerilog of the same length."""
    source = _FATAL.sub(blanked, source)
    if b"`" not in source:
        return source
    source = _SIZED.sub(lambda it: it[0].replace(it["macro"], b"0" * len(it["macro"])), source)
    source = _MEMBER.sub(b"_", source)
    return _CALL.sub(_without_arguments, source)


def _without_arguments(found: re.Match[bytes]) -> bytes:
    return blanked(found) if _NO_EXPRESSION.search(found["arguments"]) else found[0]

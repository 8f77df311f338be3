"""Make Vim9 script readable to the grammar of Vim, which knows none of it; positions and rows stay.

Functions become old ones, variables become variables of the number 1, and other new syntax becomes a comment.
"""

import re

from cqm.chunkers.languages.model import blanked
from cqm.chunkers.model import later

_HEAD = later(
    rb"(?P<space>[ \t]*)(?P<export>export[ \t]+)?(?P<static>static[ \t]+)?(?P<def>def!?)(?P<name>[ \t]+[\w#:.<>]+)\("
)
_CLOSED = later(rb"[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)[^()]*")
_ENDDEF = later(rb"([ \t]*)enddef\b")
_FUNCTION = later(rb"[ \t]*(?:export[ \t]+)?fu(?:n|nc|nct|ncti|nctio|nction)?!?[ \t]+[\w:#.]+[ \t]*\(")
_ENDFUNCTION = later(rb"[ \t]*endf(?:u|un|unc|unct|uncti|unctio|unction)?\b")
_VIM9 = later(rb"^[ \t]*vim9s(?:cript)?\b", re.MULTILINE)
_VARIABLE = later(
    rb"(?P<space>[ \t]*)(?P<export>export[ \t]+)?(?P<word>var|const|final|let)"
    rb"(?P<name>[ \t]+(?:[bgwtsv]:)?\w+)(?P<rest>.*)",
    re.DOTALL,
)
_WORDS = {b"var": b"let", b"let": b"let", b"const": b"const", b"final": b"const"}
_KNOWN = later(
    rb"[ \t]*(?:silent!?[ \t]+)?(?:if|else|elseif|endif|for|endfor|while|endwhile|try|catch|finally|endtry|augroup"
    rb"|au|autocmd|com|command|delcommand|hi|highlight|set|setl|setlocal|call|execute|exe|source|runtime|finish|syntax|syn|filetype|packadd"
    rb"|[nvxsoic]?(?:nore)?map|[nvxsoi]n|[\"|])(?![\w#:.(\[])"
)
_BLOCK = later(rb"[ \t]*(?:if|else|elseif|endif|for|endfor|while|endwhile|try|catch|finally|endtry)\b")
_INTERPOLATED = later(rb"[ \t(]\$['\"]")
_NOTE = later(rb"(?P<note>[ \t]#[ \t].*)", re.DOTALL)
_GOES_ON = later(rb"[\[({,]$|[ \t](?:[-+*/.=]=?|\.\.|&&|\|\||\?|:|->)$")
_BRACKETS = later(rb"\"(?:\\.|[^\"\\])*\"|'[^']*'|[ \t]#[ \t].*|(?P<opening>[\[({])|(?P<closing>[\])}])")
_OPTION = later(
    rb"^[ \t:]*com(?:mand)?!?(?:[ \t]+-[a-z]+(?:=[\w.*%+?-]+)?)*?[ \t]+(?P<option>-(?:complete|range|count|addr)=\S+)",
    re.MULTILINE,
)
_OPTIONS = 3


def readable_vim(source: bytes) -> bytes:
    """Return readable Vim script of the same length."""
    for _ in range(_OPTIONS):
        source = _OPTION.sub(blanked, source)
    is_vim9 = _VIM9.search(source) is not None
    if not is_vim9 and b"enddef" not in source:
        return source
    rows = source.split(b"\n")
    result: list[bytes] = []
    while len(result) < len(rows):
        at = len(result)
        head = _HEAD.match(rows[at])
        if head is not None:
            result += _old_function(rows, at, head)
        elif not is_vim9:
            result.append(rows[at])
        elif _FUNCTION.match(rows[at]):
            result += rows[at : _end(rows, at, _ENDFUNCTION) + 1]
        else:
            result += _statement(rows, at)
    return b"\n".join(result)


def _end(rows: list[bytes], at: int, pattern: re.Pattern[bytes]) -> int:
    """Return the last row of a function; the last of all without an end."""
    return next((row for row in range(at + 1, len(rows)) if pattern.match(rows[row])), len(rows) - 1)


def _as_note(row: bytes) -> bytes:
    text = row.rstrip(b"\r")
    return b'"' + b"a" * (len(text) - 1) + row[len(text) :] if text.strip() else row


def _old_function(rows: list[bytes], at: int, head: re.Match[bytes]) -> list[bytes]:
    """Return the rows of a function; its statements differ, and only its name is needed."""
    end = _end(rows, at, _ENDDEF)
    word = head["def"]
    before = head["space"] + b" " * len((head["export"] or b"") + (head["static"] or b""))
    room = len(rows[at].rstrip(b"\r")) - head.end()
    keyword = b"fu!" + b" " * (len(word) - len(b"def"))
    if not room:
        keyword = keyword[:-1] if word.endswith(b"!") else b"fu"
    first = before + keyword + head["name"] + b"()" + b" " * (room - 1)
    inner = [_as_note(row) for row in rows[at + 1 : end + 1]]
    if end > at and (closed := _ENDDEF.match(rows[end])):
        inner[-1] = closed[1] + b"endfu " + rows[end][closed.end() :]
    return [first + rows[at][len(rows[at].rstrip(b"\r")) :], *inner]


def _statement(rows: list[bytes], at: int) -> list[bytes]:
    """Return a statement outside of functions, with its continuation rows."""
    row = rows[at]
    if _BLOCK.match(row):
        return [_NOTE.sub(blanked, row)]
    if not row.strip() or (_KNOWN.match(row) and not _INTERPOLATED.search(row)):
        return [row]
    last, depth = at, _opened(row)
    while last + 1 < len(rows) and (depth > 0 or _GOES_ON.search(_NOTE.sub(b"", rows[last].rstrip()))):
        last += 1
        depth += _opened(rows[last])
    variable = _VARIABLE.fullmatch(row)
    return [_old_variable(variable) if variable else _as_note(row), *(_as_note(it) for it in rows[at + 1 : last + 1])]


def _opened(row: bytes) -> int:
    """Return how many brackets a row opens more than it closes."""
    if row.lstrip().startswith(b"#"):
        return 0
    found = [*_BRACKETS.finditer(row)]
    return sum(it["opening"] is not None for it in found) - sum(it["closing"] is not None for it in found)


def _old_variable(found: re.Match[bytes]) -> bytes:
    text = found["rest"].rstrip(b"\r")
    value = b" = 1" + b" " * (len(text) - len(b" = 1")) if len(text) >= len(b" = 1") else b" " * len(text)
    before = found["space"] + b" " * len(found["export"] or b"")
    return before + _WORDS[found["word"]] + found["name"] + value + found["rest"][len(text) :]

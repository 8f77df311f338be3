"""Tell the definitions of a component's script, in the words of its framework: props, methods, computed values."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from cqm.chunkers.embedded.parts import Name, with_names
from cqm.chunkers.languages.model import COMPONENT
from cqm.chunkers.model import Piece
from cqm.chunkers.splitting import Span

_MOST_CHARACTERS = 20_000
_MOST_LISTS = 4
"""Longest list of props to read, and how many of a script."""

# Members of a component's options, and no symbols: their members are the component's.
_OPTIONS = frozenset({"computed", "default", "methods", "watch"})
_LISTS = _OPTIONS | {"props"}

_PROPS = re.compile(r"(?<![\w$.])(?:defineProps\s*(?P<open>[<(]\s*[{\[])|props\s*:\s*(?P<list>[{\[]))")
_RUNE = re.compile(r"\}[^=;{}]{0,200}=\s{0,20}\$props\(")
_PATTERN = re.compile(r"\b(?:let|const)\s*(?P<list>\{)")
_OBJECT = re.compile(r"\bexport\s+default\s*(?:[\w.]+\s*\(\s*)?\{")
_REACTIVE = re.compile(r"^\s*\$:\s*(?P<name>[A-Za-z_$][\w$]*)\s*=(?!=)", re.MULTILINE)
_NAME_OPTION = re.compile(
    r"""(?:export\s+default\s*(?:[\w.]+\s*\(\s*)?\{|defineOptions\s*\(\s*\{)[^{}]{0,500}?(?<![\w$.])name\s*:\s*["'](?P<name>[\w.-]{1,100})["']"""
)
_TOKEN = re.compile(
    r"""//[^\n]*+|/\*(?:(?!\*/).)*+(?:\*/)?+|'(?P<one>[^'\n\\]*+)'|"(?P<two>[^"\n\\]*+)"|(?P<open>[{\[(<])"""
    r"""|(?P<close>[}\])]|(?<!=)>)|(?P<next>[,;\n])|(?P<name>[A-Za-z_$][\w$]*+)""",
    re.DOTALL,
)


def named_by_framework(text: str, pieces: list[Piece], span: Span, component: str) -> list[Piece]:
    """Name the symbols of a script as its framework does, and add those known only to the framework.

    `methods.save` of a component's options becomes `save`, `default` the component; props and reactive statements are
    added.
    """
    whole = _OBJECT.search(text, *span)
    renamed = [_renamed(piece, component, whole.start() if whole else -1) for piece in pieces]
    known = {it.name for piece in renamed for it in piece.definitions}
    found = {it.name: it for it in _found(text, span) if it.name not in known}
    return with_names(text, renamed, found.values())


def _renamed(piece: Piece, component: str, whole: int) -> Piece:
    # Where its options begin, several of them are the component.
    begins = piece.start <= whole < piece.end and len(piece.defines) > 1
    is_whole = begins or piece.symbol == "default" or _is_list(piece.symbol, piece.kind)
    definitions = (
        replace(it, name=_short(it.name, component)) for it in piece.definitions if not _is_list(it.name, it.kind)
    )
    lists = {it.name for it in piece.definitions if _is_list(it.name, it.kind)}
    return piece._replace(
        symbol=component if is_whole else _short(piece.symbol, component),
        kind=COMPONENT if is_whole else piece.kind,
        defines=tuple(
            name for name in (_short(it, component) for it in piece.defines if it not in lists) if name != component
        ),
        # The component is defined by the file.
        definitions=tuple(it for it in definitions if it.name != component),
        symbols=tuple(replace(it, name=_short(it.name, component)) for it in piece.symbols),
    )


def _is_list(name: str, kind: str) -> bool:
    return kind == "property" and name.removeprefix("default.") in _LISTS


def _short(name: str, component: str) -> str:
    first, _, rest = name.partition(".")
    while first in _OPTIONS and rest:
        name = rest
        first, _, rest = name.partition(".")
    return component if name == "default" else name


def _found(text: str, span: Span) -> Iterator[Name]:
    lists = [
        max(match.end("open"), match.end("list")) - 1 for match in islice(_PROPS.finditer(text, *span), _MOST_LISTS)
    ]
    for rune in islice(_RUNE.finditer(text, *span), _MOST_LISTS):
        patterns = [*_PATTERN.finditer(text, max(span[0], rune.start() - _MOST_CHARACTERS), rune.start())]
        lists += [match.start("list") for match in patterns[-1:]]
    for opens in lists:
        for name, start in _keys_of(text, opens, span[1]):
            yield Name(name, "property", start, start)
    for match in _REACTIVE.finditer(text, *span):
        yield Name(match["name"], "variable", match.start("name"), match.end())
    if own := _NAME_OPTION.search(text, *span):
        yield Name(own["name"], COMPONENT, own.start("name"), own.end())


def _keys_of(text: str, opens: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the keys of an object, an object type or a list of strings, each with its first character."""
    depth, is_key = 0, False
    for match in _TOKEN.finditer(text, opens, min(end, opens + _MOST_CHARACTERS)):
        if match["open"]:
            depth += 1
            is_key = depth == 1
        elif match["close"]:
            depth -= 1
            if not depth:
                return
        elif match["next"]:
            is_key = is_key or depth == 1
        elif depth == 1 and is_key and (name := match["name"] or match["one"] or match["two"]):
            if name == "readonly":
                continue
            yield name, match.start(match.lastgroup or 0)
            is_key = False
        elif match["name"]:
            is_key = False

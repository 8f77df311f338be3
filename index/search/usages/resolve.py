"""Match symbols with the name asked for, and tell whether a use surely means one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cqm.chunkers.facts.names import DECLARATION, Occurrence
from cqm.index.model.errors import QueryError
from cqm.index.ranking.exact import fitting
from cqm.index.ranking.question import Question
from cqm.index.search.usages.lines import Symbol
from cqm.index.text.names.notations import is_hyphenated
from cqm.index.text.names.parts import dotted, is_operator, last_part, with_sign
from cqm.index.text.terms import stems

_HYPHENATED = re.compile(
    r"[.#]?(?:(?:[\w-]+(?:/|::|[.#:\\]))*)(?P<plain>[*+]?\w+(?:-+\w+)+[*+?!]*)(?:\([^()]{0,200}\))?[;:]?"
    r"|[\w-]+-[\w-]+(?:[.#][\w-]+)*[.#](?P<own>\w+)"
)
"""A word with hyphens: a symbol of a Lisp, of PowerShell or CSS, a tag, a name in a configuration; or one within it."""
_EXPLICIT = frozenset({"python", "javascript", "typescript", "tsx", "go", "rust", "php", "lua", "zig"})
"""Languages where a name alone is never a member of the enclosing type."""
_MEMBERS = frozenset({"method", "property", "constructor", "variant"})
_OWN = frozenset({"self", "this", "cls", "Self", "static", "@"})
_PLAIN_RECEIVER = re.compile(r"[*&(]*([$@\w.:\\>-]*?)(\w+)\)?")


class Name(NamedTuple):
    """A symbol's name as asked for.

    Attributes:
        asked: as the user wrote it.
        qualified: with "." between its parts.
        plain: its last part, with marks: "valid?".
        word: to look for in lines; empty for an operator or "_".
    """

    asked: str
    qualified: str
    plain: str
    word: str


def asked_name(question: Question, meant: str = "") -> Name:
    """Return the name in a question, in any notation of a search: "ParseFlags()", "(*Context).Bind", "get/2".

    Parameters:
        question: as the user asked it.
        meant: the existing one of its possible names; empty for the most probable.

    Raises:
        QueryError: the question is no symbol's name.
    """
    # Names with hyphens are read below.
    read = [it for it in (meant, *question.notations[:1]) if not is_hyphenated(it)]
    names = (*read, question.symbol, *question.declared)
    return name_of(question.text, next(filter(None, names), ""))


def name_of(asked: str, qualified: str) -> Name:
    """Return the name of a symbol.

    Parameters:
        qualified: with "." between its parts.

    Raises:
        QueryError: it is empty.
    """
    plain = last_part(qualified)
    if not plain and (found := _HYPHENATED.fullmatch(asked.strip().strip("`").strip())):
        part = "plain" if found["plain"] else "own"
        qualified, plain = dotted(found[0][: found.end(part)].lstrip(".#")), found[part]
    if not plain:
        raise QueryError(f"`name {asked}`: expected a symbol such as get_url or Client.get_url.")
    # A setter of Ruby, "name=", is used as "it.name = 1"; neither an operator nor "_" is a word of the index.
    is_word = bool(plain.strip("_")) and not is_operator(plain)
    return Name(asked, qualified, plain, plain.removesuffix("=") if is_word else "")


def is_namesake(symbol: str, name: Name) -> bool:
    """Whether a symbol has the last part of the name."""
    last = last_part(symbol)
    if not name.word:
        return with_sign(last) == with_sign(name.plain)
    return last == name.plain or last.rstrip("!?=") == name.plain


def chosen(found: Sequence[tuple[str, str]], name: Name) -> set[int]:
    """Return the positions of the possible symbols among those with the name's last part.

    Parameters:
        found: path and qualified name of each.
        name: "Context.Bind" means "gin.Context.Bind" too. If nothing has all its parts, the outermost ones may be a
            package's and are left out.
    """
    for spelled in (str, with_sign):
        asked = f".{spelled(name.qualified)}"
        exact = {n for n, (_, symbol) in enumerate(found) if f".{spelled(dotted(symbol))}".endswith(asked)}
        if exact or name.word:
            break
    if exact or "." not in name.qualified:
        return exact or set(range(len(found)))
    return {n for n, (path, symbol) in enumerate(found) if fitting([symbol], name.qualified, path)}


def owner_of(symbol: str) -> str:
    """Return the type or package of a qualified name; empty for a plain one."""
    return dotted(symbol).rpartition(".")[0].rpartition(".")[2]


class Meanings(NamedTuple):
    """The symbols a name may mean.

    Attributes:
        owners: symbols by their owner; the one without an owner by "", if there is no more than one.
        asked: those asked for.
        are_all: whether no other symbol has the last part of the name.
        members: the members of types; no local variable means them.
        is_telling: whether the name is of several words: a member with it is hardly another type's.
    """

    owners: Mapping[str, str]
    asked: frozenset[str]
    are_all: bool
    members: frozenset[str]
    is_telling: bool


def meanings_of(name: Name, asked: Sequence[Symbol], others: Sequence[Symbol]) -> Meanings:
    """Collect the symbols a name may mean.

    Parameters:
        name: as asked for; its outer parts are owners too.
        others: the other symbols with the last part of the name.
    """
    owners = dict.fromkeys(name.qualified.split(".")[:-1], asked[0].name) if asked else {}
    plain = {it.name for it in (*asked, *others) if not owner_of(it.name)}
    of_types = {owner_of(it.name): it.name for it in (*others, *asked) if owner_of(it.name)}
    return Meanings(
        {**owners, **of_types, **(dict.fromkeys(("",), *plain) if len(plain) == 1 else {})},
        frozenset(it.name for it in asked),
        not others,
        frozenset(it.name for it in (*asked, *others) if it.kind in _MEMBERS and owner_of(it.name)),
        len(set(stems(name.word))) > 1,
    )


def meaning_of(uses: Iterable[Occurrence], around: Symbol | None, language: str, known: Meanings) -> tuple[str, bool]:
    """Return the symbol a line surely means, empty if nothing tells, and whether it is one asked for.

    A receiver tells the symbol if it is the owner itself, is declared with it nearby, or is "self" within the owner. If
    nothing tells, it is the only one in the index, unless it may be a local variable or a member of another's type.
    """
    doubts = []
    are_members = bool(known.asked) and known.asked <= known.members
    for use in uses:
        told = [known.owners[owner] for owner in _tellers(use, around, language) if owner in known.owners]
        told = [symbol for symbol in told if not use.is_local or symbol not in known.members]
        if told:
            return told[0], told[0] in known.asked
        is_local = use.is_local or use.kind == DECLARATION
        is_variable = not use.receiver and (is_local or (are_members and language in _EXPLICIT))
        is_anybody = bool(use.receiver) and are_members and not known.is_telling
        doubts.append(bool(use.types) or is_variable or is_anybody)
    return "", known.are_all and not (doubts and all(doubts))


def _tellers(use: Occurrence, around: Symbol | None, language: str) -> Sequence[str]:
    """Return the names of possible owners, as the receiver tells them; "" for a symbol without one."""
    within = around.name.split(".")[::-1] if around else []
    if use.types:
        return use.types
    if not use.receiver:
        if use.is_local:
            return within
        return [""] if language in _EXPLICIT else [*within[1:], ""]
    if use.receiver.lstrip("$@") in _OWN:
        return within[1:2]
    found = _PLAIN_RECEIVER.fullmatch(use.receiver)
    return [found[2]] if found else []

"""Match symbols with the name asked for, and tell whether a use is surely of that symbol."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cqm.chunkers.facts.names import Occurrence
from cqm.index.model.errors import QueryError
from cqm.index.ranking.exact import fitting
from cqm.index.ranking.question import dotted, last_part, read_question
from cqm.index.search.usages.lines import Symbol

_OPERATOR = re.compile(r"[^\w\s()]{1,3}")
_OWN = frozenset({"self", "this", "cls", "Self", "static", "@"})
_PLAIN_RECEIVER = re.compile(r"[*&(]*([$@\w.:\\>-]*?)(\w+)\)?")


class Name(NamedTuple):
    """A symbol's name as asked for.

    Attributes:
        asked: as the user wrote it.
        qualified: with "." between its parts.
        plain: its last part, with marks: "valid?".
        word: to look for in lines; empty for an operator.
    """

    asked: str
    qualified: str
    plain: str
    word: str


def read_name(asked: str) -> Name:
    """Read a name in any notation of a search: "ParseFlags()", "(*Context).Bind", "Client::getUrl".

    Raises:
        QueryError: it is no symbol's.
    """
    text = asked.strip()
    qualified = read_question(text).symbol
    if not qualified and _OPERATOR.fullmatch(last_part(text) or text):
        qualified = dotted(text)
    plain = last_part(qualified)
    if not plain:
        raise QueryError(f"`name {asked}`: expected a symbol such as get_url or Client.get_url.")
    # A setter of Ruby, "name=", is used as "it.name = 1".
    spoken = plain.removesuffix("=") if re.search(r"\w", plain) else ""
    return Name(asked, qualified, plain, spoken)


def is_namesake(symbol: str, name: Name) -> bool:
    """Whether a symbol has the last part of the name."""
    return last_part(symbol) == name.plain or last_part(symbol).rstrip("!?=") == name.plain


def chosen(found: Sequence[tuple[str, str]], name: Name) -> set[int]:
    """Return the places of the symbols that the name may mean, among those with its last part.

    Parameters:
        found: path and qualified name of each.
        name: "Context.Bind" means "gin.Context.Bind" too. If nothing has all its parts, the outermost ones may be a
            package's, and are left out.
    """
    exact = {n for n, (_, symbol) in enumerate(found) if f".{dotted(symbol)}".endswith(f".{name.qualified}")}
    if exact or "." not in name.qualified:
        return exact or set(range(len(found)))
    return {n for n, (path, symbol) in enumerate(found) if fitting([symbol], name.qualified, path)}


def owner_of(symbol: str) -> str:
    """Return the type or package of a qualified name; empty for a plain one."""
    return dotted(symbol).rpartition(".")[0].rpartition(".")[2]


def owners_of(name: Name, asked: Iterable[str], others: Iterable[str]) -> Mapping[str, str]:
    """Return the symbols that a name may mean by their owner; those without one by "", if they are no more than one.

    Parameters:
        name: as asked for; its outer parts own what was asked for too.
        asked: qualified names of the symbols asked for.
        others: of the other symbols with the last part of the name.
    """
    known = [*asked]
    owners = dict.fromkeys(name.qualified.split(".")[:-1], known[0]) if known else {}
    plain = [symbol for symbol in (*known, *others) if not owner_of(symbol)]
    of_types = {owner_of(symbol): symbol for symbol in (*others, *known) if owner_of(symbol)}
    return {**owners, **of_types, **({"": plain[0]} if len(plain) == 1 else {})}


def symbol_used(uses: Iterable[Occurrence], around: Symbol | None, owners: Mapping[str, str]) -> str:
    """Return the symbol that one of a line's occurrences surely means, by its receiver; empty if nothing tells.

    A receiver tells the symbol if it is the owner itself, is declared with it nearby, or is "self" within the owner.
    """
    told = (owners[owner] for use in uses for owner in _tellers(use, around) if owner in owners)
    return next(told, "")


def _tellers(use: Occurrence, around: Symbol | None) -> Sequence[str]:
    within = around.name.split(".")[-2::-1] if around else []
    if use.types:
        return use.types
    if not use.receiver:
        return [*within, ""]
    if use.receiver.lstrip("$@") in _OWN:
        return within[:1]
    found = _PLAIN_RECEIVER.fullmatch(use.receiver)
    return [found[2]] if found else []

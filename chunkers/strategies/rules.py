"""Check the options of chunking by one rule an option."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import option_of

Bound = float | Callable[[Any], float]
"""An end of a range, or a function returning it from the options before it."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from low to high, inclusive; also None if it is optional, or stands in for another option."""

    low: Bound
    high: Bound
    optional: bool = False
    instead_of: str = ""

    def fault(self, value: object, options: object) -> str:
        """Return the requirement if the value breaks it; else empty."""
        if self.optional and value is None:
            return ""
        if self.instead_of and getattr(options, self.instead_of) is not None:
            return f"left out where {self.instead_of} is given"
        if isinstance(value, bool) or not isinstance(value, int):
            return f"a whole number {_range(self, options)}"
        return "" if _is_within(self, value, options) else _range(self, options)


@dataclass(frozen=True, slots=True)
class Real:
    """A number from low to high, inclusive; also None if it is optional."""

    low: Bound
    high: Bound
    optional: bool = False

    def fault(self, value: object, options: object) -> str:
        """Return the requirement if the value breaks it; else empty."""
        if self.optional and value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            return f"a number {_range(self, options)}"
        return "" if _is_within(self, value, options) else _range(self, options)


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    def fault(self, value: object, _options: object) -> str:
        """Return the requirement if the value breaks it; else empty."""
        return "" if isinstance(value, bool) else "true or false"


@dataclass(frozen=True, slots=True)
class Words:
    """A tuple of non-blank strings."""

    def fault(self, value: object, _options: object) -> str:
        """Return the requirement if the value breaks it; else empty."""
        is_valid = isinstance(value, tuple) and all(isinstance(word, str) and word.strip() for word in value)
        return "" if is_valid else "a tuple of strings that are not blank"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some strings."""

    values: tuple[str, ...]

    def fault(self, value: object, _options: object) -> str:
        """Return the requirement if the value breaks it; else empty."""
        return "" if isinstance(value, str) and value in self.values else f"one of {', '.join(self.values)}"


@dataclass(frozen=True, slots=True)
class Given:
    """An object from the caller with all of the attributes; also None if it is optional."""

    attributes: tuple[str, ...]
    what: str
    optional: bool = False

    def fault(self, value: object, _options: object) -> str:
        """Return the requirement if the value breaks it; else empty."""
        if self.optional and value is None:
            return ""
        return "" if all(hasattr(value, attribute) for attribute in self.attributes) else self.what


Rule = Whole | Real | Flag | Words | Choice | Given

TOKENIZER = Given(("encode", "decode", "count"), "a tokenizer (chunkers.tokens.Tokenizer)", optional=True)
"""The rule of the option `tokenizer`, for every strategy with it."""


def rules_of(options: type[Any]) -> dict[str, Rule]:
    """Return the rules of whole numbers and flags declared by `option` in a dataclass."""
    rules: dict[str, Rule] = {}
    for declared in fields(options):
        if (known := option_of(declared)) and known.at_least is not None and known.at_most is not None:
            rules[declared.name] = Whole(known.at_least, known.at_most)
        elif known and isinstance(declared.default, bool):
            rules[declared.name] = Flag()
    return rules


def check(options: object, rules: Mapping[str, Rule]) -> None:
    """Reject options which break a rule; no value is ever silently brought into its range.

    Parameters:
        options: a dataclass with a field for every rule.
        rules: by option; a rule comes after the options it depends on.

    Raises:
        ChunkOptionError: names the option, its value and the requirement.
    """
    for name, rule in rules.items():
        value = getattr(options, name)
        if fault := rule.fault(value, options):
            raise refusal(name, value, fault)


def refusal(name: str, value: object, expected: str) -> ChunkOptionError:
    """Return the error for an option's value, with the requirement: "from 1 to 6", "true or false" ..."""
    shown = repr(value) if isinstance(value, str) else str(value)
    message = f"The chunking option {name} is {shown}; it must be {expected}."
    remedy = f"Set {name} within that range." if expected.startswith("from ") else f"Let {name} be {expected}."
    return ChunkOptionError(message, remedy=remedy)


def _range(rule: Whole | Real, options: object) -> str:
    return f"from {_end(rule.low, options)} to {_end(rule.high, options)}"


def _is_within(rule: Whole | Real, value: float, options: object) -> bool:
    return _end(rule.low, options) <= value <= _end(rule.high, options)


def _end(bound: Bound, options: object) -> float:
    return bound(options) if callable(bound) else bound

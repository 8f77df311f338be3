"""Build options from a strategy's name and plain values, such as from a command line or a tool call."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from types import MappingProxyType
from typing import Any, get_args

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.strategies.rules import check, refusal
from cqm.chunkers.strategies.table import BY_NAME, Options
from cqm.chunkers.tokens import Tokenizer, openai_tokenizer


def options_of(strategy: str, values: Mapping[str, object] = MappingProxyType({}), **given: object) -> Options:
    """Return the options of a strategy, checked.

        options_of("sentence", {"target_tokens": "512"})  # SentenceOptions(target_tokens=512, ...)

    Parameters:
        strategy: a name of `table.STRATEGIES`: "auto", "fixed", "sentence", "semantic", "hierarchical", "late",
            "javadoc".
        values: by option. A string may stand for a number, a flag ("true", "false"), a list (separated by commas) or a
            tokenizer (the name of an OpenAI model or encoding).
        given: values with no plain form: `embed`, `encoder`. Those the strategy does not have are ignored.

    Raises:
        ChunkOptionError: the strategy or an option is unknown, missing, or outside its range.
    """
    row = BY_NAME.get(strategy)
    if row is None:
        message = f"There is no chunking strategy {strategy!r}."
        raise ChunkOptionError(message, remedy=f"Use one of {', '.join(BY_NAME)}.")
    known = {it.name: it for it in fields(row.options)}
    if unknown := sorted(set(values) - set(known)):
        message = f"The strategy {strategy} has no option {', '.join(map(repr, unknown))}."
        raise ChunkOptionError(message, remedy=f"It has {', '.join(known)}.")
    chosen = {name: _converted(known[name], value) for name, value in values.items()}
    chosen |= {name: value for name, value in given.items() if name in known}
    if missing := [name for name, it in known.items() if it.default is MISSING and name not in chosen]:
        message = f"The strategy {strategy} needs the option {', '.join(missing)}."
        raise ChunkOptionError(message, remedy="Give it as a function or object: it has no plain value.")
    options: Options = row.options(**chosen)
    check(options, row.rules)
    return options


_FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _words(value: str) -> tuple[str, ...]:
    return tuple(word for word in (part.strip() for part in value.split(",")) if word)


# By the type of an option's field.
_FROM_TEXT: Mapping[Any, tuple[Callable[[str], object], str]] = {
    int: (int, "a whole number"),
    float: (float, "a number"),
    bool: (lambda value: _FLAGS[value.lower()], "true or false"),
    tuple[str, ...]: (_words, "words with commas between them"),
    Tokenizer: (openai_tokenizer, "the name of an OpenAI model or encoding"),
}


def _converted(option: "Field[Any]", value: object) -> object:
    if isinstance(value, list):
        return tuple(value)
    types = (option.type, *get_args(option.type))
    reader = next((_FROM_TEXT[it] for it in types if it in _FROM_TEXT), None)
    if not isinstance(value, str) or reader is None:
        return value
    read, expected = reader
    try:
        return read(value)
    except (ValueError, KeyError) as error:
        raise refusal(option.name, value, expected) from error

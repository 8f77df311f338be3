"""Build options from plain values, such as from a command line, a tool call, or the rules of a configuration."""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, replace
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import LATE, ChunkOptions
from cqm.chunkers.source_types import SOURCE_TYPES, source_type_of
from cqm.chunkers.strategies.late import LateOptions
from cqm.chunkers.strategies.rules import check, refusal
from cqm.chunkers.strategies.semantic import Embed
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
        given: values with no plain form: `embed`, `encoder`. The strategy ignores unknown ones.

    Raises:
        ChunkOptionError: the strategy or an option is unknown, missing, or outside its range.
    """
    row = BY_NAME.get(strategy)
    if row is None:
        message = f"Strategy {strategy!r}: expected one of {', '.join(BY_NAME)}."
        raise ChunkOptionError(message, remedy="Use one of them.")
    known = {it.name: it for it in fields(row.options)}
    if unknown := sorted(set(values) - set(known)):
        message = f"Strategy {strategy}, option {', '.join(map(repr, unknown))}: expected one of {', '.join(known)}."
        raise ChunkOptionError(message, remedy="Use its own options.")
    chosen = {name: _converted(known[name], value) for name, value in values.items()}
    chosen |= {name: value for name, value in given.items() if name in known}
    if missing := [name for name, it in known.items() if it.default is MISSING and name not in chosen]:
        message = f"The strategy {strategy} needs the option {', '.join(missing)}."
        raise ChunkOptionError(message, remedy="Give it as a function or object: it has no plain value.")
    options: Options = row.options(**chosen)
    check(options, row.rules)
    return options


_LONGEST_PATTERN = 4096
"""Characters, as many as a path has at most; a pattern of ten times as many needs more memory than matching has."""
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


class ChunkRule(NamedTuple):
    """A strategy for some of the files.

    Attributes:
        applies: tells from a file's path and language whether the rule is for it.
        strategy, values: arguments of `options_of`.
    """

    applies: Callable[[str, str], bool]
    strategy: str
    values: Mapping[str, str]


_RULE = re.compile(r"(\S.*?)[ \t]+([a-z]+)(?::(\S+))?")
_RULE_FORM = "FILES STRATEGY or FILES STRATEGY:NAME=VALUE,NAME=VALUE, such as docs/** hierarchical:child_tokens=512"
_OF_INDEX = ("auto", "fixed", "sentence", "semantic", "hierarchical", "late")
"""The strategies keeping every character in chunks to search."""
_LATE_OF_INDEX = ("target_tokens", "pooling")
"""Options of late chunking in an index, which cuts by estimated sizes, and embeds once the chunks are known."""
_MODELS: Mapping[str, object] = {"embed": lambda texts: [[0.0]] * len(texts), "encoder": None}
"""Stand for the models where a rule is checked."""
_TARGETS = {"auto": "max_tokens", "fixed": "size_tokens", "hierarchical": "child_tokens"}
"""The option meant by `target_tokens`, for strategies without one of this name."""


def rule_of(text: str) -> ChunkRule:
    """Read a rule: files, then a strategy with options.

        rule_of("docs/** hierarchical:child_tokens=512")
        rule_of("language:python fixed:size_tokens=256")
        rule_of("type:config sentence")

    Parameters:
        text: the files are a pattern in .gitignore syntax, `language:` with a name of a language or format, or `type:`
            with a name of `source_types.SOURCE_TYPES`. `target_tokens` stands for any strategy's size.

    Raises:
        ChunkOptionError: the text is no rule, the strategy is not for an index, or an option is unknown or out of its
            range.
    """
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ChunkOptionError(f"The chunking rule {text!r} is unclear: expected {_RULE_FORM}.")
    files, strategy, given = match.groups()
    if strategy not in _OF_INDEX:
        message = f"The chunking rule {text!r} names the strategy {strategy!r}: expected {', '.join(_OF_INDEX)}."
        raise ChunkOptionError(message, remedy="Others are for previews.")
    pairs = [pair.partition("=") for pair in given.split(",")] if given else []
    values = {name if name != "target_tokens" else _TARGETS.get(strategy, name): value for name, _, value in pairs}
    if strategy == LATE and (others := sorted(set(values) - set(_LATE_OF_INDEX))):
        message = f"The chunking rule {text!r} has {others[0]}: expected {' or '.join(_LATE_OF_INDEX)}."
        raise ChunkOptionError(message, remedy="Other options of late chunking are for previews.")
    # Raises now instead of with the first file.
    options_of(strategy, values, **_MODELS)
    return ChunkRule(_selector(files), strategy, values)


def _selector(files: str) -> Callable[[str, str], bool]:
    kind, _, name = files.partition(":")
    if kind == "language" and name:
        return lambda _path, language: language == name
    if kind == "type":
        if name not in SOURCE_TYPES:
            raise ChunkOptionError(f"There are no files of the type {name!r}: expected {', '.join(SOURCE_TYPES)}.")
        return lambda _path, language: source_type_of(language) == name
    if len(files) > _LONGEST_PATTERN:
        told = f"The pattern {files[:40]!r}... of a chunking rule has {len(files):,} characters"
        message = f"{told}: expected at most {_LONGEST_PATTERN:,}."
        raise ChunkOptionError(message)
    from pathspec import GitIgnoreSpec  # start-up time: few have rules

    try:
        spec = GitIgnoreSpec.from_lines([files])
    except ValueError as error:
        raise ChunkOptionError(f"The pattern {files!r} of a chunking rule is malformed: {error}.") from error
    return lambda path, _language: spec.match_file(path)


def options_for(path: str, language: str, options: ChunkOptions, embed: Embed | None = None) -> Options:
    """Return the options of the first rule for a file; without one, those given.

    Parameters:
        path: of the file, with "/" between parts.
        language: as in `Document.language`.
        options: with the rules. If "auto" is chosen, they apply unless the rule says otherwise.
        embed: for "semantic"; without it no such rule applies. "late" has no encoder here: the index embeds later.

    Raises:
        ChunkOptionError: a rule is malformed.
    """
    usual = replace(options, rules=())
    for rule in _rules(options.rules):
        if rule.applies(path, language) and (embed or rule.strategy != "semantic"):
            if rule.strategy == "auto":
                row = {it.name: it for it in fields(ChunkOptions)}
                own: dict[str, Any] = {name: _converted(row[name], value) for name, value in rule.values.items()}
                return replace(usual, **own)
            return options_of(rule.strategy, rule.values, embed=embed, encoder=None)
    return usual


def late_pooling(options: ChunkOptions) -> str:
    """Return the pooling of the rules for late chunking; empty if there is none.

    Raises:
        ChunkOptionError: a rule is malformed, or two differ in their pooling: a question has one vector for all.
    """
    late = (options_of(LATE, rule.values, encoder=None) for rule in _rules(options.rules) if rule.strategy == LATE)
    found = {it.pooling for it in late if isinstance(it, LateOptions)}
    if len(found) > 1:
        message = f"The chunking rules for late have pooling {' and '.join(sorted(found))}: expected one for all."
        raise ChunkOptionError(message, remedy="Give all of them the same pooling.")
    return next(iter(found), "")


@functools.lru_cache(maxsize=16)
def _rules(texts: Iterable[str]) -> tuple[ChunkRule, ...]:
    return tuple(map(rule_of, texts))

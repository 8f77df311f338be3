"""Options of chunking, the declaration of any option of cqm.yml, and the values of a fact."""

from dataclasses import Field, dataclass, field
from typing import Any, TypeVar

Fact = str | int | float | bool | tuple[str, ...]
"""A JSON-compatible value of `Metadata.facts`."""

Value = TypeVar("Value")
_OPTION = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """A declared option: its comment in cqm.yml, and the values it may have.

    Attributes:
        help: a sentence, or a few words.
        at_least, at_most: ends of its range, inclusive; None for no end.
        above: an end outside of the range.
        choices: the texts it may be; empty for any.
        longest: the most characters of a text; 0 for any number.
        kind: a row of `server.config.field_types.KINDS`, for a text or path that must have a form, such as "url".
    """

    help: str
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    longest: int = 0
    kind: str = ""


def option(default: Value, help: str, **allowed: Any) -> Value:  # noqa: A002, ANN401 - as in click; those of `Option`
    """Declare a field of a dataclass as an option of cqm.yml.

    max_tokens: int = option(512, "Larger symbols are split.", at_least=64, at_most=8192)

    Parameters:
        help, allowed: see `Option`.
    """
    # A dataclass takes the field for a default of its annotated type.
    return field(default=default, metadata={_OPTION: Option(help, **allowed)})


def option_of(declared: "Field[Any]") -> Option | None:
    """Return the option a dataclass's field declares; None if the field is no option of cqm.yml."""
    return declared.metadata.get(_OPTION)


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Sizes of chunks, in estimated tokens.

    Against a `min_tokens` of 64, 128 found more at every level (NDCG@10 of files .878 for .874, MRR@10 of functions by
    their doc comment .500 for .475). A quarter of overlap is the design documents' 128 of 512. Parsers take 70 times a
    file's size in memory.

    Attributes:
        details: collect the facts of symbols (`Chunk.symbols`), which takes as long as chunking itself. For previews.
    """

    max_tokens: int = option(
        512, "A symbol within this size stays whole; a larger one is split.", at_least=64, at_most=8192
    )
    min_tokens: int = option(
        128, "Smaller neighbours are packed together; at most max_tokens.", at_least=0, at_most=8192
    )
    max_parse_bytes: int = option(
        1_000_000,
        "Larger programs are parsed in parts, where their language allows it. Others, and JSON, YAML and TOML 4 times"
        " as large, are cut at lines.",
        at_least=0,
        at_most=16_000_000,
    )
    overlap_percent: int = option(
        25,
        "Overlap between the parts of a divided section of HTML or text, in percent of max_tokens.",
        at_least=0,
        at_most=50,
    )
    overlap_tokens: int = option(
        0,
        "Overlap of every chunk of Markdown, HTML, reStructuredText, AsciiDoc, Org and the like, and text with the one"
        " before, in whole sentences; at most half of max_tokens, which holds for both together."
        " 0 for that of overlap_percent.",
        at_least=0,
        at_most=4096,
    )
    apart: bool = option(default=False, help="Make every member of a class a chunk of its own, however small.")
    rules: tuple[str, ...] = option(
        (),
        "Other ways to cut some files; the first that fits counts. FILES STRATEGY:NAME=VALUE,NAME=VALUE, such as"
        " docs/** hierarchical:child_tokens=512; FILES may be language:NAME or type:NAME too.",
        kind="chunk rule",
    )
    details: bool = False

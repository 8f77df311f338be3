"""Extract documentation comments with their declarations, without code, for documentation indexes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.chunk_builder import utf8
from cqm.chunkers.code.enclosing import class_line, field_signatures
from cqm.chunkers.code.outline import Mark
from cqm.chunkers.code.packages import packages_of
from cqm.chunkers.code.program import Program, program_of
from cqm.chunkers.code.signature import body_of
from cqm.chunkers.facts.rows.comments import marked
from cqm.chunkers.languages.model import COMMENT, GROUP, LEADING, text_of
from cqm.chunkers.metadata import names_of
from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.source_types import JAVADOC
from cqm.chunkers.strategies.rules import Rule, Whole
from cqm.chunkers.tokens import estimate

if TYPE_CHECKING:
    from cqm.chunkers.code.source import Source

# First byte of a character; decoding would count a lone surrogate as three.
_FIRST_BYTE = re.compile(rb"[^\x80-\xbf]")

_SIGN = re.compile(rb"/\*\*(?!/)|//[/!](?!/)")

# One blank row may separate a comment from its declaration.
_MAX_DISTANCE = 2

# Longest declaration of a value, such as a table of constants.
_MAX_ROWS = 12

_FIRST_SENTENCE = re.compile(r".+?(?:(?<=[.!?])(?=\s)|(?<=。)|(?=\n\s*(?:\n|@))|\Z)", re.DOTALL)
_TAG = re.compile(r"</?\w[^<>]*>|\{@\w+\s+([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class JavadocOptions:
    """Documentation comments are never cut.

    Attributes:
        max_tokens: a larger comment with its declaration gets a warning; in estimated tokens. 64 to 8192.
    """

    max_tokens: int = 256


JAVADOC_RULES: Mapping[str, Rule] = {"max_tokens": Whole(64, 8192)}


class _Owner(NamedTuple):
    """The surroundings of symbols.

    Attributes:
        package: of the document, joined by "."; empty for none.
        context: shows the enclosing type.
        description: the first sentence about this type.
        level: of their pieces.
    """

    package: str
    context: str = ""
    description: str = ""
    level: int = 0


class _Documented(NamedTuple):
    """A symbol, and the comments above it which document it; there may be none."""

    mark: Mark
    comments: Sequence[Mark]


def cut_javadoc(text: str, language: str, options: JavadocOptions) -> Cut:
    """Make a piece for each documented type and member of a program; overloads get their own.

    A piece spans the comment and the declaration up to its body; undocumented code and all bodies are left out. A
    type's fields are its context; a member's context is its type. The facts are the package, the fully qualified name
    of the type ("fqcn"), the first sentence about it ("class_description") and the documented kind ("element_type").

    Parameters:
        language: a language with documentation in comments beginning with "/**", "///" or "//!".
    """
    program = program_of(text, language, ChunkOptions())
    if not isinstance(program, Program):
        return [], [program or f"not parsed: no grammar for {language}"]
    owner = _Owner(packages_of(program.marks, program.language, program.source).at(0))
    pieces = list(_pieces(program.marks, owner, program.source)) or list(_package(program, owner))
    if not pieces:
        return [], ["no documentation comments were found"]
    sizes = [size for piece in pieces if (size := estimate(text[piece.start : piece.end])) > options.max_tokens]
    over = f"{len(sizes)} of {len(pieces)} documentation comments are over max_tokens={options.max_tokens}"
    return pieces, [f"{over}; the largest has {max(sizes)} tokens."] if sizes else []


# The outline limits the depth of marks.
def _pieces(marks: Iterable[Mark], owner: _Owner, source: "Source") -> Iterator[Piece]:
    for found in _symbols(marks, (), source):
        if found.comments:
            yield _piece(found, owner, source)
        yield from _pieces(found.mark.members, _inside(found, owner, source), source)


def _package(program: Program, owner: _Owner) -> Iterator[Piece]:
    # In a file with nothing else, package-info.java, the comment is about the package, not a licence.
    comments = [mark for mark in program.marks if mark.kind == COMMENT]
    declared = next((mark for mark in program.marks if mark.node.type == "package_declaration"), None)
    documentation = _documentation(comments, declared, program.source) if declared else []
    if declared and documentation:
        facts: dict[str, Fact] = {"content_type": JAVADOC, "element_type": "package", "package": owner.package}
        span = _span(_Documented(declared, documentation), program.source)
        yield Piece(*span, JAVADOC, owner.package, (owner.package,), facts=facts)


def _symbols(marks: Iterable[Mark], above: Sequence[Mark], source: "Source") -> Iterator[_Documented]:
    pending = list(above)
    for mark in marks:
        if mark.kind in (COMMENT, LEADING):
            pending.append(mark)
            continue
        if mark.kind == GROUP:
            yield from _symbols(mark.members, pending, source)
        elif mark.name:
            yield _Documented(mark, _documentation(pending, mark, source))
        pending = []


def _documentation(pending: Sequence[Mark], mark: Mark, source: "Source") -> list[Mark]:
    # Attributes and plain comments may stand between it and the symbol.
    found: list[Mark] = []
    following = mark.first
    for above in reversed(pending):
        is_sign = above.kind == COMMENT and _SIGN.match(source.data, above.node.start_byte)
        if following - above.last > _MAX_DISTANCE or (found and not is_sign):
            break
        if is_sign:
            found.append(above)
        following = above.first
    return found[::-1]


def _inside(found: _Documented, owner: _Owner, source: "Source") -> _Owner:
    level = owner.level + 1 if found.comments else owner.level
    line = class_line(found.mark, owner.package)
    if not line:
        return owner._replace(level=level)
    return _Owner(owner.package, line, _first_sentence(found.comments, source), level)


def _piece(found: _Documented, owner: _Owner, source: "Source") -> Piece:
    mark = found.mark
    is_type = bool(class_line(mark, owner.package))
    fields = field_signatures(mark, source) if is_type else ()
    description = _first_sentence(found.comments, source) if is_type else owner.description
    names = names_of(mark.kind, mark.name, owner.package)
    told = names._asdict() | {"package": owner.package, "class_description": description}
    facts: dict[str, Fact] = {"content_type": JAVADOC, "element_type": mark.kind}
    return Piece(
        *_span(found, source),
        JAVADOC,
        mark.name,
        (mark.name,),
        "\n".join([owner.context, *fields] if owner.context else fields),
        level=owner.level,
        facts=facts | {name: value for name, value in told.items() if value},
    )


def _span(found: _Documented, source: "Source") -> tuple[int, int]:
    """Return the span from the first comment, with its indentation, to the end of the declaration."""
    mark, first = found.mark, found.comments[0]
    start = _offset(*first.node.start_point, source)
    if not source.text[source.starts[first.first] : start].strip():
        start = source.starts[first.first]
    body = body_of(mark)
    row, column = body.start_point if body else (mark.last, len(utf8(source.lines[mark.last])))
    end = _offset(row, column, source) if row < mark.first + _MAX_ROWS else source.starts[mark.first + 1]
    return start, start + len(source.text[start:end].rstrip())


def _offset(row: int, column: int, source: "Source") -> int:
    # The tree counts columns in bytes.
    line = source.lines[row]
    if line.isascii():
        return source.starts[row] + column
    return source.starts[row] + len(_FIRST_BYTE.findall(utf8(line[:column])[:column]))


def _first_sentence(comments: Sequence[Mark], source: "Source") -> str:
    text = marked([text_of(mark.node, source.data) for mark in comments])
    found = _FIRST_SENTENCE.match(text.lstrip())
    return " ".join(_TAG.sub(lambda tag: tag[1] or "", found[0]).split()) if found else ""

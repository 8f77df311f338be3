"""Texts for search and embedding: a chunk's code with a rule-made header (path, symbol, enclosing declarations)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import PurePosixPath

from cqm.chunkers.model import CLASS_NOTE, FIELDS_NOTE, Chunk, Fact, Metadata
from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.text.names.parts import name_key
from cqm.index.text.terms import COMMENT, SparseTerms, document_terms, terms_of

TERMS_VERSION = 7
"""Raise it with every change of stored terms, contexts or embedded texts: indexes of another version are rebuilt."""

# Terms of a typical chunk, file and path. Constants: with BM25's true averages every file would change every vector.
_CHUNK_LENGTH = 80.0
_FILE_LENGTH = 2500.0
_PATH_LENGTH = 8.0
_SYMBOL_WEIGHT = 4
_PATH_WEIGHT = 2
"""Weights of a chunk's symbol and path; its text has 1. Chosen with the lengths and the constants in `terms`, see
docs/evaluation.md.
"""
_MARKUP = frozenset({"html", "xml"})

_MOST_DECLARATIONS = 4
_LONGEST_DECLARATION = 160


@dataclass(frozen=True, slots=True)
class FileTerms:
    """Sparse vectors of a file: one per chunk, in order, one of the whole file and one of its path."""

    chunks: tuple[SparseTerms, ...]
    file: SparseTerms
    path: SparseTerms


def file_terms(path: str, chunks: Sequence[Chunk]) -> FileTerms:
    """Return the sparse vectors of a file.

    Parameters:
        path: relative to the root, with "/" between parts.
        chunks: all chunks of the file, in order.
    """
    # Lists, since counting a list runs in C, and adding counters does not.
    of_path = terms_of(_path_text(path))
    whole = Counter(of_path)
    vectors = []
    for chunk in chunks:
        # In markup all text counts: people search for ids and classes. Not in JSON, as its escapes hide words.
        of_text = terms_of(chunk.text if chunk.language in _MARKUP else chunk.content or chunk.text)
        whole.update(of_text)
        of_header = (
            of_path * _PATH_WEIGHT,
            terms_of(chunk.symbol) * _SYMBOL_WEIGHT,
            terms_of(_searched_context(chunk)),
        )
        vectors.append(document_terms(Counter(chain(of_text, *of_header)), _CHUNK_LENGTH))
    return FileTerms(
        tuple(vectors), document_terms(whole, _FILE_LENGTH), document_terms(Counter(of_path), _PATH_LENGTH)
    )


def part_names(chunk: Chunk) -> list[str]:
    """Return the names defined by a chunk without a piece of their own, such as fields: ".Command.Args".

    They are found by their name and say nothing else about their chunk.
    """
    return [f".{it.name}" for it in chunk.definitions if it.name not in chunk.defines]


def definition_terms(language: str, defines: Sequence[str]) -> tuple[str, ...]:
    """Label a chunk with the names it defines, to find it by them; nothing for other than code."""
    return tuple(dict.fromkeys(filter(None, map(name_key, defines)))) if source_type_of(language) == CODE else ()


def header(chunk: Chunk) -> str:
    """Return the lines above a chunk: path, qualified name or heading path, enclosing declarations."""
    return "\n".join(part for part in (chunk.path, chunk.symbol, _searched_context(chunk)) if part)


def declarations(chunk: Chunk) -> str:
    """Return the innermost declarations around a chunk as written, one a line, without comments."""
    lines = (line[:_LONGEST_DECLARATION].rstrip() for line in _searched_context(chunk).split("\n"))
    return "\n".join([line for line in lines if line and not COMMENT.match(line)][-_MOST_DECLARATIONS:])


# Fields shown elsewhere in a search result.
_TOLD_ELSEWHERE = frozenset({"content_type", "headings", "facts"})
_STORED_FIELDS = tuple(field.name for field in fields(Metadata) if field.name not in _TOLD_ELSEWHERE)


def metadata_fields(chunk: Chunk) -> dict[str, Fact]:
    """Return the stored metadata of a chunk by name: its facts and the fields common to all chunks."""
    metadata = chunk.metadata
    known: dict[str, Fact] = {name: value for name in _STORED_FIELDS if (value := getattr(metadata, name))}
    known.update(metadata.facts)
    return known


def dense_text(chunk: Chunk, place: str = "prefix") -> str:
    """Return the embedded text: the header, and the code or prose as people read it.

    Parameters:
        place: of the header: "prefix", "suffix" or "both".
    """
    told, text = header(chunk), chunk.content or chunk.text
    before = (told,) if place != "suffix" else ()
    after = (told,) if place != "prefix" else ()
    return "\n".join((*before, text, *after))


def text_elsewhere(text: str, length: int, paths: tuple[str, str], place: str) -> str:
    """Return `dense_text` of the same chunk with its file at another path.

    Parameters:
        text: from `dense_text`.
        length: of the embedded text without the header, in characters.
        paths: of the file, and the other one.
        place: as for `dense_text`.
    """
    count = 2 if place == "both" else 1
    told = (len(text) - length - count) // count
    body = text[told + 1 :][:length] if place != "suffix" else text[:length]
    header = text[-told:] if place == "suffix" else text[:told]
    moved = paths[1] + header.removeprefix(paths[0])
    return "\n".join((*((moved,) if place != "suffix" else ()), body, *((moved,) if place != "prefix" else ())))


def _searched_context(chunk: Chunk) -> str:
    # Left out: with its class's fields in the text every method would match a field's name, whether it uses it or not.
    # NDCG@10 on gson: .860 without these lines, .853 with them.
    context = chunk.context
    if CLASS_NOTE not in context and FIELDS_NOTE not in context:
        return context
    lines = context.split("\n")
    return "\n".join(line for line in lines if not line.startswith((CLASS_NOTE, FIELDS_NOTE)))


def _path_text(path: str) -> str:
    # The file's name counts twice, its suffix not at all: all files of a language share it.
    pure = PurePosixPath(path)
    name = pure.name.removesuffix(pure.suffix)
    return f"{pure.parent}/{name} {name}"

"""What is searched and embedded of a chunk: its code with a header, made by rules, that says where it stands."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import PurePosixPath

from cqm.chunkers.code.enclosing import CLASS_NOTE, FIELDS_NOTE
from cqm.chunkers.model import Chunk, Fact, Metadata
from cqm.index.text.terms import SparseTerms, count_terms, document_terms

TERMS_VERSION = 4
"""Grows with every change of stored terms, contexts or embedded texts, so that an index knows to be rebuilt."""

# Terms of a usual chunk, file and path. Constants: BM25's true averages would change every vector with every file.
_CHUNK_LENGTH = 80.0
_FILE_LENGTH = 2500.0
_PATH_LENGTH = 8.0
_SYMBOL_WEIGHT = 4
_PATH_WEIGHT = 2
"""How often a chunk's symbol and path count beside its text. Chosen with the length and `lexical`'s constants, see
docs/evaluation.md."""
_MARKUP = frozenset({"html", "xml"})


COMMENT = re.compile(r"\s*(?://|/\*|\*(?:[\s/]|$)|#+(?:[\s:]|$)|--\s)")
"""How a line begins that is a comment. "*p = f()" and "--n, f()" are none, nor are "#region" and "#[test]"."""
_MOST_DECLARATIONS = 4
_LONGEST_DECLARATION = 160


@dataclass(frozen=True, slots=True)
class FileTerms:
    """The sparse vectors of a file: one a chunk, in order, one of the whole file and one of its path."""

    chunks: tuple[SparseTerms, ...]
    file: SparseTerms
    path: SparseTerms


def file_terms(path: str, chunks: Sequence[Chunk]) -> FileTerms:
    """The sparse vectors of a file.

    Parameters:
        path: relative to the root, with "/" between parts.
        chunks: all chunks of the file, in order.
    """
    of_path = count_terms(_path_text(path))
    whole = Counter(of_path)
    vectors = []
    for chunk in chunks:
        counts = count_terms(_searched(chunk))
        whole.update(counts)
        fields = [*[_path_text(path)] * _PATH_WEIGHT, *[chunk.symbol] * _SYMBOL_WEIGHT, _searched_context(chunk)]
        counts.update(count_terms("\n".join(fields)))
        vectors.append(document_terms(counts, _CHUNK_LENGTH))
    return FileTerms(tuple(vectors), document_terms(whole, _FILE_LENGTH), document_terms(of_path, _PATH_LENGTH))


def header(chunk: Chunk) -> str:
    """The lines that say where a chunk stands: path, qualified name or heading path, enclosing declarations."""
    return "\n".join(part for part in (chunk.path, chunk.symbol, _searched_context(chunk)) if part)


def declarations(chunk: Chunk) -> str:
    """The declarations that a chunk stands in, as they are written, a line each: of very many the innermost."""
    lines = (line[:_LONGEST_DECLARATION].rstrip() for line in _searched_context(chunk).split("\n"))
    return "\n".join([line for line in lines if line and not COMMENT.match(line)][-_MOST_DECLARATIONS:])


# What the result of a search tells anyway.
_TOLD_ELSEWHERE = frozenset({"content_type", "headings", "facts"})
_STORED_FIELDS = tuple(field.name for field in fields(Metadata) if field.name not in _TOLD_ELSEWHERE)


def metadata_fields(chunk: Chunk) -> dict[str, Fact]:
    """What is known of a chunk, by name, as it is stored: its facts beside the fields that all chunks have."""
    metadata = chunk.metadata
    known: dict[str, Fact] = {name: value for name in _STORED_FIELDS if (value := getattr(metadata, name))}
    known.update(metadata.facts)
    return known


def dense_text(chunk: Chunk, place: str = "prefix") -> str:
    """The text that is embedded: the header and, as people read it, the code or prose.

    Parameters:
        place: where the header stands: "prefix", "suffix" or "both".
    """
    told, text = header(chunk), chunk.content or chunk.text
    before = (told,) if place != "suffix" else ()
    after = (told,) if place != "prefix" else ()
    return "\n".join((*before, text, *after))


def text_elsewhere(text: str, length: int, paths: tuple[str, str], place: str) -> str:
    """What `dense_text` would give for a chunk whose file is at another path.

    Parameters:
        text: what it gives.
        length: of what is embedded beside the header, in characters.
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
    # With the fields of its class every method is found by them, and what uses them by no more than that: leaving these
    # lines out, NDCG@10 on gson is .860 instead of .853.
    lines = chunk.context.split("\n")
    return "\n".join(line for line in lines if not line.startswith((CLASS_NOTE, FIELDS_NOTE)))


def _searched(chunk: Chunk) -> str:
    # Markup has its words in plain text, beside ids and classes that people look for; JSON's escapes would hide words.
    return chunk.text if chunk.language in _MARKUP else chunk.content or chunk.text


def _path_text(path: str) -> str:
    # The file's own name counts twice, its suffix not at all: every file of a language has it.
    pure = PurePosixPath(path)
    name = pure.name.removesuffix(pure.suffix)
    return f"{pure.parent}/{name} {name}"

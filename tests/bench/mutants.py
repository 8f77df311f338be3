"""Real files, damaged: what chunkers meet in the folders of people, and worse. A seed gives the same each time."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from zlib import crc32

import numpy as np

from cqm.chunkers.detect import PROSE_FORMATS, language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.languages.table import dialect_of
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.strategies.fixed import FixedOptions
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.strategies.javadoc import JavadocOptions
from cqm.chunkers.strategies.late import LateOptions
from cqm.chunkers.strategies.pooling import Tokens
from cqm.chunkers.strategies.semantic import SemanticOptions
from cqm.chunkers.strategies.sentence import SentenceOptions
from cqm.chunkers.strategies.table import Options
from cqm.chunkers.text_of_file import is_readable, read_text
from cqm.chunkers.tokens import Tokenizer, openai_tokenizer

CHUNKER_TESTS = Path(__file__).parents[1] / "chunkers"

# The table of references is left out: PDFium finds the objects without it.
PDF = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [4 0 R 4 0 R] /Count 2 >>
endobj
3 0 obj
<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>
endobj
4 0 obj
<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792] /Contents 5 0 R >>
endobj
5 0 obj
<< /Length 169 >>
stream
BT /F1 10 Tf 12 TL 50 750 Td
(The valve closes before the pump starts, and stays closed.) Tj T*
(It opens again when the pressure has fallen under 3 bar.) Tj T*
ET
endstream
endobj
6 0 obj
<< /Title (Valves) >>
endobj
trailer
<< /Root 1 0 R /Info 6 0 R >>
%%EOF
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A real file.

    Attributes:
        path: what the document is called.
        language: of the file; given to chunkers where its path does not tell.
        data: all of it.
    """

    path: str
    language: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Mutant:
    """A damaged document, how it is to be chunked, and what was done to it."""

    document: Document
    options: Options
    damage: str


def fixtures() -> Iterator[Source]:
    """The fixtures and golden documents of this project, and a PDF."""
    for path in sorted((CHUNKER_TESTS / "fixtures/code").iterdir()):
        yield Source("fixture", path.stem, path.read_bytes())
    golden = list(files([CHUNKER_TESTS / "golden/documents", CHUNKER_TESTS / "fixtures/embedded"]))
    yield from golden
    yield Source("manual.pdf", "pdf", PDF)
    # One chunker reads all of these.
    prose = next(source.data for source in golden if source.language == "asciidoc")
    known = {source.language for source in golden}
    yield from (Source("notes", row.name, prose) for row in PROSE_FORMATS if row.name not in known)


def files(trees: Iterable[Path], most_bytes: int = 150_000) -> Iterator[Source]:
    """The readable files of trees, but for large ones."""
    for path in (path for tree in trees for path in sorted(tree.rglob("*"))):
        if ".git" in path.parts or path.is_symlink() or not path.is_file() or path.stat().st_size > most_bytes:
            continue
        data = path.read_bytes()
        if data.strip() and is_readable(path.name, data[:8192]):
            head = data[:4000].decode("utf-8", "replace")
            yield Source(path.name, dialect_of(language_of(path.name, head), head), data)


def mutant_of(source: Source, others: Sequence[Source], seed: str) -> Mutant:
    """Damage a file in one to three ways.

    Parameters:
        source: the file.
        others: for splices, and for languages that the file is taken for by mistake.
        seed: the same one gives the same mutant.
    """
    rng = Random(seed)
    other = rng.choice(others)
    done: list[str] = []
    data = source.data
    if rng.random() < 0.2:
        of_bytes = rng.choice(BYTE_DAMAGES)
        data = of_bytes(data, rng)
        done.append(of_bytes.__name__)
    text = _text(source.path, data)
    for damage in rng.sample(TEXT_DAMAGES, rng.randint(0 if done else 1, 2)):
        text = damage(text, _text(other.path, other.data), rng)
        done.append(damage.__name__)
    language = source.language
    if rng.random() < 0.1:
        language = other.language
        done.append(taken_for.__name__)
    names = ", ".join(done)
    return Mutant(Document(source.path, text, language), _options(rng), f"{names} ({source.path}, {other.path})")


def taken_for() -> None:
    """Only its name is used: the file has the suffix of another language."""


def _text(path: str, data: bytes) -> str:
    """The text of a file; of one that is not readable, what a caller might still make of it: with lone surrogates."""
    try:
        return read_text(path, data).text
    except UndecodableError:
        return data.decode("utf-8", "surrogateescape")


def _place(text: str | bytes, rng: Random) -> int:
    return rng.randint(0, len(text))


def _stretch(text: str | bytes, rng: Random, most: int) -> slice:
    start = _place(text, rng)
    return slice(start, start + rng.randint(1, most))


def _bytes_truncated(data: bytes, rng: Random) -> bytes:
    return data[: _place(data, rng)]


def _bytes_spliced(data: bytes, rng: Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.randbytes(rng.choice((1, 3, 40, 500))) + data[place:]


def _bits_flipped(data: bytes, rng: Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(1 + len(data) // 500 if data else 0):
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _truncated(text: str, _other: str, rng: Random) -> str:
    place = _place(text, rng)
    return text[:place] if rng.random() < 0.7 else text[place:]


def _shuffled(text: str, _other: str, rng: Random) -> str:
    lines = text.splitlines(keepends=True)
    rng.shuffle(lines)
    return "".join(lines)


def _repeated_block(text: str, _other: str, rng: Random) -> str:
    place = _stretch(text, rng, 2_000)
    return text[: place.start] + text[place] * rng.choice((2, 5, 30)) + text[place.start :]


def _repeated_snippet(text: str, _other: str, rng: Random) -> str:
    """A few characters hundreds of times: what nests takes stacks, what looks ahead takes squares."""
    place = _stretch(text, rng, 12)
    return text[: place.start] + text[place] * rng.choice((300, 3_000, 15_000)) + text[place.start :]


def _repeated_tokens(text: str, _other: str, rng: Random) -> str:
    """A few tokens of the language thousands of times, in an order that none writes them in."""
    tokens = re.findall(r"\w+|[^\w\s]+|[^\w\s]|\n[ \t]*", text) or [" "]
    snippet = rng.choice(("", "", " ")).join(rng.choice(tokens) for _ in range(rng.randint(1, 4)))
    place = rng.choice((0, _place(text, rng)))
    return text[:place] + snippet * min(rng.choice((500, 5_000, 20_000)), 150_000 // len(snippet)) + text[place:]


def _brackets_deleted(text: str, _other: str, rng: Random) -> str:
    return re.sub(r"[][(){}<>]", lambda found: found[0] if rng.random() < 0.8 else "", text)


def _brackets_doubled(text: str, _other: str, rng: Random) -> str:
    return re.sub(r"[][(){}<>]", lambda found: found[0] * (1 if rng.random() < 0.8 else 2), text)


def _quotes_doubled(text: str, _other: str, rng: Random) -> str:
    return re.sub(r"[\"'`/*#-]+", lambda found: found[0] * (1 if rng.random() < 0.9 else 2), text)


def _unindented(text: str, _other: str, rng: Random) -> str:
    return re.sub(r"^[ \t]+", lambda found: found[0][: rng.randint(0, len(found[0]))], text, flags=re.MULTILINE)


def _indented(text: str, _other: str, rng: Random) -> str:
    return re.sub(r"^", lambda _: rng.choice(("", "", " ", "\t", "    ")), text, flags=re.MULTILINE)


def _other_line_ends(text: str, _other: str, rng: Random) -> str:
    return text.replace("\n", rng.choice(("\r\n", "\r", "\n\r\n", "\u2028", "\x0c\n", "\x0b")))


def _one_line(text: str, _other: str, rng: Random) -> str:
    return re.sub(r"\s+", rng.choice((" ", "")), text)


_ODD = ("\0", "\ud800", "\udfff", "\u0301", "\u202e", "\u200d", "\ufeff", "\x1b[0m", "語", "😀", "\r", "\x85", "\u3000")


def _sprinkled(text: str, _other: str, rng: Random) -> str:
    odd = rng.sample(_ODD, 3)
    parts = re.split(r"(?<=\W)", text)
    return "".join(part + (rng.choice(odd) if rng.random() < 0.05 else "") for part in parts)


def _deleted(text: str, _other: str, rng: Random) -> str:
    place = _stretch(text, rng, 200)
    return text[: place.start] + text[place.stop :]


def _spliced(text: str, other: str, rng: Random) -> str:
    place = _place(text, rng)
    return text[:place] + other[_stretch(other, rng, 5_000)] + text[place:]


BYTE_DAMAGES = (_bytes_truncated, _bytes_spliced, _bits_flipped)
TEXT_DAMAGES = (
    *(
        _truncated,
        _shuffled,
        _repeated_block,
        _repeated_snippet,
        _repeated_tokens,
        _brackets_deleted,
        _brackets_doubled,
    ),
    *(_quotes_doubled, _unindented, _indented, _other_line_ends, _one_line, _sprinkled, _deleted, _spliced),
)


def by_checksum(sentences: Sequence[str]) -> list[list[float]]:
    """Vectors that are alike or not by the sentence's first characters."""
    return [[crc32(text[:3].encode("utf-8", "replace")) % 5 - 1, len(text) % 3, 0] for text in sentences]


class Encoder:
    """Words as tokens, and embeddings from their numbers: late chunking without a model."""

    name = "words"
    window = 64

    def tokenize(self, text: str) -> Tokens:
        """Words and marks."""
        found = list(re.finditer(r"[^\W_]+|[^\w\s]", text))
        ids = [crc32(word[0].encode("utf-8", "replace")) % 9973 for word in found]
        return Tokens(ids, np.array([word.span() for word in found], np.int64).reshape(-1, 2))

    def encode(self, ids: Sequence[int]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        """Waves of the tokens' numbers, never zero."""
        return np.cos(np.outer(np.asarray(ids), np.arange(8))).astype(np.float32)

    def close(self) -> None:
        """Nothing is open."""


def _content(rng: Random) -> Options:
    most = rng.choice((64, 128, 512, 512, 8192))
    least = rng.choice((0, 16, 64, most // 2, most))
    return ChunkOptions(
        most,
        min(least, most),
        overlap_percent=rng.choice((0, 25, 50)),
        apart=rng.random() < 0.5,
        details=rng.random() < 0.5,
    )


def _fixed(rng: Random) -> Options:
    tokenizer = exact_tokenizer() if rng.random() < 0.2 else None
    return FixedOptions(rng.choice((128, 512)), overlap_percent=rng.choice((0, 12, 50)), tokenizer=tokenizer)


def _sentence(rng: Random) -> Options:
    most = rng.choice((128, 768))
    return SentenceOptions(128, most, rng.choice((0, 64)), rng.randint(0, 5), rng.random() < 0.5)


def _semantic(rng: Random) -> Options:
    return SemanticOptions(
        by_checksum, rng.choice((0.0, 0.7, 1.0)), target_tokens=128, max_tokens=rng.choice((128, 512))
    )


def _hierarchical(rng: Random) -> Options:
    child = rng.choice((64, 128))
    return HierarchicalOptions(rng.randint(1, 6), 128, child, rng.choice((0, 64)), summaries=rng.random() < 0.5)


def _late(rng: Random) -> Options:
    pooling = rng.choice(("mean", "cls", "attention"))
    boundaries = rng.choice(("sentence", "token", "semantic"))
    return LateOptions(Encoder(), pooling, boundaries, rng.choice((16, 256)), rng.choice((0, 32)))


def _javadoc(_rng: Random) -> Options:
    return JavadocOptions()


STRATEGIES: Mapping[str, Callable[[Random], Options]] = {
    "auto": _content,
    "fixed": _fixed,
    "sentence": _sentence,
    "semantic": _semantic,
    "hierarchical": _hierarchical,
    "late": _late,
    "javadoc": _javadoc,
}


def _options(rng: Random) -> Options:
    return STRATEGIES[rng.choice(("auto",) * 8 + tuple(STRATEGIES))](rng)


@functools.cache
def exact_tokenizer() -> Tokenizer:
    """Of the cl100k_base encoding; it takes 120 MB."""
    return openai_tokenizer("cl100k_base")

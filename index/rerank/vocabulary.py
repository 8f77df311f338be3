"""Numbers of the identifiers and words of texts, with the words' directions. A project's texts repeat them.

A text is split once, an identifier split into words once, a word's vector computed once. A question reading thirty
chunks looks up numbers, and NumPy does the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any

from cqm.index.embedding.static_model import lines_of_identifiers, word_vectors, words_of_identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int32]

_MOST_WORDS = 1 << 12
"""Remembered, each with a kilobyte; with more, all is forgotten."""
_MOST_IDENTIFIERS = 1 << 15
_MOST_TEXTS = 1 << 9
_LONGEST = 64
"""Characters; a longer one is data."""
_WORDS_OF_ONE = 12
"""First words of an identifier; only these count."""
_NO_LENGTH = 1e-9
_NO_WORD = 0
"""Number of the empty word, which has no direction."""


class _Numbered(dict[str, int]):
    """Numbers of strings, each the next free one when it is first asked for; `new` lists those."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        self.new.append(key)
        return number


@dataclass(frozen=True, slots=True)
class TextNumbers:
    """A text as numbers.

    Attributes:
        identifiers: their numbers, line after line.
        sizes: number of identifiers in each line, without lines of none.
    """

    identifiers: "Numbers"
    sizes: "Numbers"


@dataclass(frozen=True, slots=True)
class Directions:
    """Words of texts and of a question.

    Attributes:
        texts: as numbers.
        words_of: numbers of the words of each identifier by its number, shape (identifiers, 12), filled up with 0, no
            word.
        units: direction of each word by its number, of length 1 or 0, shape (words, dimensions).
        lengths: of the words' trained vectors: their weights.
    """

    texts: "Sequence[TextNumbers]"
    words_of: "Numbers"
    units: "Floats"
    lengths: "Floats"


class Vocabulary:
    """Everything remembered of some texts. Its method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        import numpy as np

        self._texts: dict[str, TextNumbers] = {}
        self._identifiers, self._words = _Numbered(), _Numbered()
        # The first entry is no word.
        self._words.update({"": _NO_WORD})
        self._words.new.append("")
        self._words_of = np.zeros((0, _WORDS_OF_ONE), np.int32)
        self._units, self._lengths = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)

    def numbers(self, texts: Sequence[str], *words: Sequence[str]) -> "tuple[Directions, list[Numbers]]":
        """Number the identifiers of texts, and lists of words.

        Parameters:
            texts: as in files.
            words: lists of words in lower case.

        Returns:
            Those of the texts, and the numbers of the words of each list.

        Raises:
            EmbeddingError: the model's files are gone or others.
        """
        import numpy as np

        with self._lock:
            if len(self._words) > _MOST_WORDS or len(self._identifiers) > _MOST_IDENTIFIERS:
                self._forget()
            read = [self._texts.get(text) or self._read(text) for text in texts]
            numbers = [np.fromiter(map(self._words.__getitem__, it), np.int32, len(it)) for it in words]
            self._extend()
            return Directions(read, self._words_of, self._units, self._lengths), numbers

    def _read(self, text: str) -> TextNumbers:
        import numpy as np

        lines = list(filter(None, lines_of_identifiers(text)))
        sizes = np.fromiter(map(len, lines), np.int32, len(lines))
        found = map(self._identifiers.__getitem__, chain.from_iterable(lines))
        read = TextNumbers(np.fromiter(found, np.int32, int(sizes.sum())), sizes)
        if len(self._texts) >= _MOST_TEXTS:
            del self._texts[next(iter(self._texts))]
        self._texts[text] = read
        return read

    def _extend(self) -> None:
        """Write down the words of identifiers and the directions of words numbered since the last call."""
        import numpy as np

        if identifiers := self._identifiers.new:
            words = [words_of_identifier(it)[:_WORDS_OF_ONE] if len(it) <= _LONGEST else () for it in identifiers]
            sizes = np.fromiter(map(len, words), np.intp, len(words))
            numbers = np.fromiter(map(self._words.__getitem__, chain.from_iterable(words)), np.int32, int(sizes.sum()))
            first = len(self._identifiers) - len(words)
            self._words_of = _grown(self._words_of, len(self._identifiers))
            columns = np.repeat(np.arange(len(words)), sizes)
            within = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            self._words_of[first + columns, within] = numbers
            self._identifiers.new = []
        if new := self._words.new:
            vectors = word_vectors(new)
            lengths = np.linalg.norm(vectors, axis=1)
            first = len(self._words) - len(new)
            if not first:
                self._units = np.zeros((0, vectors.shape[1]), np.float32)
            self._units = _grown(self._units, len(self._words))
            self._lengths = _grown(self._lengths, len(self._words))
            self._units[first : len(self._words)] = vectors / np.maximum(lengths, _NO_LENGTH)[:, None]
            self._lengths[first : len(self._words)] = lengths
            self._words.new = []


def _grown(rows: "NDArray[Any]", least: int) -> "NDArray[Any]":
    """Return rows with room for at least so many, the new ones 0. Those returned before keep theirs."""
    import numpy as np

    if len(rows) >= least:
        return rows
    grown = np.zeros((max(least, 2 * len(rows)), *rows.shape[1:]), rows.dtype)
    grown[: len(rows)] = rows
    return grown

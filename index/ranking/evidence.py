"""What the searches of a question found: the candidates for an answer, and what each search says of them."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer: what its rank depends on, and what is shown of it beside its text.

    Attributes:
        id: of the chunk.
        path, defines, start_line, end_line, symbol, kind, language: as in `Chunk`.
        digest: equal for equal texts; empty when unknown.
        position: among the chunks of its file.
        said: the names that it defines, in lower case, to look for words in all of them at once.
    """

    id: str
    path: str
    defines: Sequence[str]
    start_line: int
    end_line: int
    digest: str = ""
    symbol: str = ""
    kind: str = ""
    language: str = ""
    position: int = -1
    said: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the names together."""
        object.__setattr__(self, "said", "\n".join(self.defines).lower())


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the store's searches gave for a question. A search that was not asked for leaves its mapping empty.

    Attributes:
        candidates: the chunks to rank.
        terms: BM25 by chunk id; a missing one counts as 0.
        dense: cosine by chunk id of the nearest chunks, in each space that holds vectors; a missing one counts as the
            least of them.
        file_terms, path_terms: BM25 by path, of the file's text and of the path's words.
        saying: the chunks that say the word which the question is, where they are few.
    """

    candidates: tuple[Candidate, ...]
    terms: Mapping[str, float]
    dense: tuple[Mapping[str, float], ...]
    file_terms: Mapping[str, float]
    path_terms: Mapping[str, float]
    saying: AbstractSet[str] = frozenset()

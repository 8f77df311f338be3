"""Evidence: the candidates for an answer and the scores each search gave them."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from cqm.index.ranking.file_roles import Role, role_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible result: the fields ranking needs, and those shown beside its text.

    Attributes:
        path, defines, start_line, end_line, symbol, kind, language: as in `Chunk`.
        digest: equal for equal texts; empty when unknown.
        position: among the chunks of its file.
        is_generated: whether a tool wrote its file.
        lowered: the names it defines in lower case, one a line, to search all of them at once.
        named: names with a piece of their own, in lower case, one a line: without fields, which begin with ".".
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
    is_generated: bool = False
    lowered: str = field(init=False)
    named: str = field(init=False)

    def __post_init__(self) -> None:
        """Join the names."""
        lowered = "\n".join(self.defines).lower()
        named = lowered
        if lowered.startswith(".") or "\n." in lowered:
            named = "\n".join([name for name in self.defines if not name.startswith(".")]).lower()
        object.__setattr__(self, "lowered", lowered)
        object.__setattr__(self, "named", named)

    @property
    def role(self) -> Role | None:
        """Of its file."""
        return role_of(self.path, is_generated=self.is_generated)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The results of the store's searches for a question. A search not run leaves its mapping empty.

    Attributes:
        terms: BM25 by chunk id; missing ones count as 0.
        dense: for each space with vectors, the cosine of the nearest chunks by id; missing ones count as the least.
        file_terms, path_terms: BM25 by path, of the file's text and of the path's words.
        mentioning: ids of the chunks containing the one-word question; empty if there are many.
        likely: ids among these lifted for a part of the question, and judged by all its words.
    """

    candidates: tuple[Candidate, ...]
    terms: Mapping[str, float]
    dense: tuple[Mapping[str, float], ...]
    file_terms: Mapping[str, float]
    path_terms: Mapping[str, float]
    mentioning: AbstractSet[str] = frozenset()
    likely: AbstractSet[str] = frozenset()

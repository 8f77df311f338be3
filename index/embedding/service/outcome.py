"""What has become of the texts of one call so far."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cqm.index.embedding.service.base import stacked
from cqm.index.embedding.service.pooling import Part, pooled
from cqm.index.model.spaces import Embeddings, RejectedText, Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cqm.index.model.spaces import Vector

_CANCELLED = "the vectors of its parts cancel each other out"


@dataclass(slots=True)
class Outcome:
    """By the position of a text.

    Attributes:
        parts: vectors of the text, or of its parts.
        rejected: why it has no vector, of a part or the whole.
        cut: texts of which only the beginning was embedded.
        pooled: texts that were embedded in parts.
    """

    parts: dict[int, list[Part]] = field(default_factory=dict)
    rejected: dict[int, str] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    pooled: set[int] = field(default_factory=set)

    def embeddings(self, space: Space) -> Embeddings:
        """All of it, in the order of the texts; of this space. A text of which one part was rejected is rejected."""
        vectors = dict(self._vectors())
        indices = tuple(sorted(vectors))
        return Embeddings(
            indices,
            stacked([vectors[index] for index in indices], space.dimensions),
            space,
            tuple(RejectedText(index, reason) for index, reason in sorted(self.rejected.items())),
            tuple(sorted(self.cut & vectors.keys())),
            tuple(sorted(self.pooled & vectors.keys())),
        )

    def certain(self, space: Space) -> Embeddings:
        """What will not change any more when the call is broken off: of a text in parts, some may be missing."""
        whole = {index: parts for index, parts in self.parts.items() if index not in self.pooled}
        return Outcome(whole, cut=self.cut).embeddings(space)

    def _vectors(self) -> "Sequence[tuple[int, Vector]]":
        found = []
        for index, parts in self.parts.items():
            if index in self.rejected:
                continue
            vector = pooled(parts)
            if vector is None:
                self.rejected[index] = _CANCELLED
            else:
                found.append((index, vector))
        return found

"""Results so far of one embedding call."""

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
    """Results by a text's position.

    Attributes:
        parts: vectors of the text, or of its parts.
        rejected: reasons for having no vector, of a part or the whole.
        cut: texts embedded only by their beginning.
        pooled: texts embedded in parts.
    """

    parts: dict[int, list[Part]] = field(default_factory=dict)
    rejected: dict[int, str] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    pooled: set[int] = field(default_factory=set)

    def embeddings(self, space: Space) -> Embeddings:
        """Return everything in the order of the texts. If one part of a text was rejected, the text is."""
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
        """Return the results still certain if the call breaks off: texts in parts may lack some and are left out."""
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

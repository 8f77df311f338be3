"""What a strategy is: a row of `table.STRATEGIES`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cqm.chunkers.chunk_builder import Outline
from cqm.chunkers.model import Chunk
from cqm.chunkers.strategies.rules import Rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Strategy:
    """A row of the table.

    Attributes:
        name: what `options_of` is asked for and `Chunk.strategy` says.
        options: the type of its options, a frozen dataclass.
        rules: for every option, what it may be.
        target: from a chunk to the option that says how large it is to be, in tokens; over 150 % of that is warned of.
            Empty for a chunk that may have any size.
        outline: from text, language and options to what the text is cut into. The pieces tile it, but for those that
            hold the pieces after them as a tree, and for "javadoc", which leaves out what is no documentation.
        vectors: from text, chunks and options to one row a chunk, for a strategy that embeds; None for no chunks.
    """

    name: str
    options: type
    rules: Mapping[str, Rule]
    target: Callable[[Chunk], str]
    outline: Callable[[str, str, Any], Outline]
    vectors: "Callable[[str, Sequence[Chunk], Any], NDArray[np.float32] | None] | None" = None

"""List the strategies, one row each; to add one, add its row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cqm.chunkers.chunk_builder import Outline
from cqm.chunkers.model import Chunk
from cqm.chunkers.strategies.rules import Rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

from functools import partial

from cqm.chunkers.chunk_builder import trimmed
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import LATE, ChunkOptions, Cut
from cqm.chunkers.strategies.content import outline_by_content
from cqm.chunkers.strategies.fixed import FIXED_RULES, FixedOptions, cut_fixed
from cqm.chunkers.strategies.hierarchical import HIERARCHICAL_RULES, SUMMARY, HierarchicalOptions, cut_hierarchical
from cqm.chunkers.strategies.javadoc import JAVADOC_RULES, JavadocOptions, cut_javadoc
from cqm.chunkers.strategies.late import LATE_RULES, LateOptions, cut_late, late_vectors
from cqm.chunkers.strategies.rules import Flag, Whole, Words, rules_of
from cqm.chunkers.strategies.semantic import SEMANTIC_RULES, SemanticOptions, cut_semantic
from cqm.chunkers.strategies.sentence import SENTENCE_RULES, SentenceOptions, cut_sentences
from cqm.chunkers.tokens import Tokenizer, estimate


@dataclass(frozen=True, slots=True)
class Strategy:
    """A row of the table.

    Attributes:
        name: for `options_of` and `Chunk.strategy`.
        options: the type of its options, a frozen dataclass.
        rules: the rule of every option.
        target: from a chunk to the option for its size in tokens; chunks over 150 % of it get a warning. Empty for a
            chunk of any size.
        outline: from text, language and options to the pieces. They tile the text, except for those holding the
            following pieces as a tree, and for "javadoc", which keeps only documentation.
        vectors: from text, chunks and options to one row a chunk, for a strategy with embeddings; None for no chunks.
    """

    name: str
    options: type
    rules: Mapping[str, Rule]
    target: Callable[[Chunk], str]
    outline: Callable[[str, str, Any], Outline]
    vectors: "Callable[[str, Sequence[Chunk], Any], NDArray[np.float32] | None] | None" = None


Options = (
    ChunkOptions | FixedOptions | SentenceOptions | SemanticOptions | HierarchicalOptions | LateOptions | JavadocOptions
)

_CONTENT_RULES: dict[str, Rule] = {
    **rules_of(ChunkOptions),
    "min_tokens": Whole(0, lambda options: options.max_tokens),
    "overlap_tokens": Whole(0, lambda options: options.max_tokens // 2),
    # A preview of one file may parse more than an index may of each.
    "max_parse_bytes": Whole(0, 1 << 30),
    "rules": Words(),
    "details": Flag(),
}


def _target_in_tree(chunk: Chunk) -> str:
    if chunk.kind == SUMMARY:
        return ""
    return "parent_tokens" if chunk.children else "child_tokens"


def _outlined(name: str, cut: Callable[[str, str, Any], Cut], text: str, language: str, options: Any) -> Outline:  # noqa: ANN401 - of the row's type
    tokenizer: Tokenizer | None = getattr(options, "tokenizer", None)
    pieces, warnings = cut(text, language, options)
    return Outline(language, name, trimmed(text, pieces), warnings, tokenizer.count if tokenizer else estimate)


STRATEGIES = (
    Strategy("auto", ChunkOptions, _CONTENT_RULES, lambda _: "max_tokens", outline_by_content),
    Strategy("fixed", FixedOptions, FIXED_RULES, lambda _: "size_tokens", partial(_outlined, "fixed", cut_fixed)),
    Strategy(
        "sentence",
        SentenceOptions,
        SENTENCE_RULES,
        lambda _: "target_tokens",
        partial(_outlined, "sentence", cut_sentences),
    ),
    Strategy(
        "semantic",
        SemanticOptions,
        SEMANTIC_RULES,
        lambda _: "target_tokens",
        partial(_outlined, "semantic", cut_semantic),
    ),
    Strategy(
        "hierarchical",
        HierarchicalOptions,
        HIERARCHICAL_RULES,
        _target_in_tree,
        partial(_outlined, "hierarchical", cut_hierarchical),
    ),
    # It keeps to its target itself, in the encoder's tokens, which can differ widely from the estimate.
    Strategy(LATE, LateOptions, LATE_RULES, lambda _: "", partial(_outlined, LATE, cut_late), late_vectors),
    # It warns of long chunks itself.
    Strategy("javadoc", JavadocOptions, JAVADOC_RULES, lambda _: "", partial(_outlined, "javadoc", cut_javadoc)),
)

BY_TYPE = {row.options: row for row in STRATEGIES}
BY_NAME = {row.name: row for row in STRATEGIES}


def strategy_of(options: Options) -> Strategy:
    """Return the strategy chosen by the type of the options.

    Raises:
        ChunkOptionError: they belong to no strategy.
    """
    if type(options) not in BY_TYPE:
        message = f"Chunking options of the type {type(options).__name__} belong to no strategy."
        names = ", ".join(row.options.__name__ for row in STRATEGIES)
        raise ChunkOptionError(message, remedy=f"Give one of {names}.")
    return BY_TYPE[type(options)]

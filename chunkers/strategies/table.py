"""The strategies, one row each. To add one, add its row."""

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
from cqm.chunkers.model import ChunkOptions, Cut
from cqm.chunkers.strategies.content import outline_by_content
from cqm.chunkers.strategies.fixed import FIXED_RULES, FixedOptions, cut_fixed
from cqm.chunkers.strategies.hierarchical import HIERARCHICAL_RULES, SUMMARY, HierarchicalOptions, cut_hierarchical
from cqm.chunkers.strategies.javadoc import JAVADOC_RULES, JavadocOptions, cut_javadoc
from cqm.chunkers.strategies.late import LATE_RULES, LateOptions, cut_late, late_vectors
from cqm.chunkers.strategies.rules import Flag, Whole, rules_of
from cqm.chunkers.strategies.semantic import SEMANTIC_RULES, SemanticOptions, cut_semantic
from cqm.chunkers.strategies.sentence import SENTENCE_RULES, SentenceOptions, cut_sentences
from cqm.chunkers.tokens import Tokenizer, estimate


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


Options = (
    ChunkOptions | FixedOptions | SentenceOptions | SemanticOptions | HierarchicalOptions | LateOptions | JavadocOptions
)

_CONTENT_RULES: dict[str, Rule] = {
    **rules_of(ChunkOptions),
    "min_tokens": Whole(0, lambda options: options.max_tokens),
    # A preview of one file may parse more than an index may of each.
    "max_parse_bytes": Whole(0, 1 << 30),
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
    # It keeps to its target itself, in the encoder's tokens, which the estimate may miss by far.
    Strategy("late", LateOptions, LATE_RULES, lambda _: "", partial(_outlined, "late", cut_late), late_vectors),
    # It says itself what is too long.
    Strategy("javadoc", JavadocOptions, JAVADOC_RULES, lambda _: "", partial(_outlined, "javadoc", cut_javadoc)),
)

BY_TYPE = {row.options: row for row in STRATEGIES}
BY_NAME = {row.name: row for row in STRATEGIES}


def strategy_of(options: Options) -> Strategy:
    """The strategy that the type of the options chooses.

    Raises:
        ChunkOptionError: they are of no strategy's type.
    """
    if type(options) not in BY_TYPE:
        message = f"Chunking options of the type {type(options).__name__} belong to no strategy."
        names = ", ".join(row.options.__name__ for row in STRATEGIES)
        raise ChunkOptionError(message, remedy=f"Give one of {names}.")
    return BY_TYPE[type(options)]

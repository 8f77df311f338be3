"""Group sentences into chunks of about a target size."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from cqm.chunkers.model import Cut, Piece
from cqm.chunkers.splitting import Span, Unit, even_spans
from cqm.chunkers.strategies.rules import TOKENIZER, Flag, Rule, Whole, Words
from cqm.chunkers.strategies.sentences import AFTER_HEADING, AFTER_SENTENCE, sentences_of
from cqm.chunkers.tokens import QUARTERS, Tokenizer, quarters


@dataclass(frozen=True, slots=True)
class SentenceOptions:
    """Groups of whole sentences; sizes are in tokens of the tokenizer, or estimated ones (`tokens.estimate`).

    Attributes:
        target_tokens: size of a chunk without its overlap. 128 to 4096.
        max_tokens: limit of a chunk with its overlap; only a longer sentence is larger, as a chunk of its own.
            target_tokens to 8192.
        min_tokens: a smaller chunk is joined to a neighbour within max_tokens. 0 to target_tokens.
        sentence_overlap: sentences repeated from the previous chunk, as far as max_tokens allows; never all of this
            chunk. 0 to 5.
        prefer_paragraphs: whether chunks preferably end with a paragraph or before a heading.
        delimiters: end a sentence, such as (".", "。"), in place of the rules of English and Japanese.
        tokenizer: counts exactly; None for the estimate.
    """

    target_tokens: int = 512
    max_tokens: int = 768
    min_tokens: int = 64
    sentence_overlap: int = 1
    prefer_paragraphs: bool = True
    delimiters: tuple[str, ...] = ()
    tokenizer: Tokenizer | None = None


SENTENCE_RULES: Mapping[str, Rule] = {
    "target_tokens": Whole(128, 4096),
    "max_tokens": Whole(lambda options: options.target_tokens, 8192),
    "min_tokens": Whole(0, lambda options: options.target_tokens),
    "sentence_overlap": Whole(0, 5),
    "prefer_paragraphs": Flag(),
    "delimiters": Words(),
    "tokenizer": TOKENIZER,
}


def cut_sentences(text: str, _language: str, options: SentenceOptions) -> Cut:
    """Cut a text after sentences; see `SentenceOptions`. A fence is only cut beyond `sentences.LONGEST`."""
    units = sentences_of(text, (0, len(text)), measure_of(options.tokenizer), delimiters=options.delimiters)
    if not options.prefer_paragraphs:
        units = [unit._replace(strength=min(unit.strength, AFTER_SENTENCE)) for unit in units]
    limit = options.max_tokens * QUARTERS
    groups = joined(
        even_groups(0, units, options.target_tokens * QUARTERS, limit), limit, options.min_tokens * QUARTERS
    )
    warnings = long_warnings(units, limit, "max_tokens", options.max_tokens)
    return list(_overlapping(groups, limit, options.sentence_overlap)), warnings


def measure_of(tokenizer: Tokenizer | None) -> Callable[[str], int]:
    """Return a function which counts a text in quarters of a token."""
    return quarters if tokenizer is None else lambda text: tokenizer.count(text) * QUARTERS


@dataclass(frozen=True, slots=True)
class Group:
    """Successive units.

    Attributes:
        start: first character of the first unit.
        units: one or more.
        size: of all units, in quarters of a token.
    """

    start: int
    units: Sequence[Unit]
    size: int

    @property
    def end(self) -> int:
        """Character after the last unit."""
        return self.units[-1].end

    def followed_by(self, other: "Group") -> "Group":
        """Join this group with the next one."""
        return Group(self.start, [*self.units, *other.units], self.size + other.size)

    def parted(self, size: int) -> tuple["Group", "Group"]:
        """Split off the last units of a given size; the first of the two groups may be empty."""
        first, rest = len(self.units), size
        while rest > 0:
            first -= 1
            rest -= self.units[first].size
        end = self.units[first - 1].end if first else self.start
        return Group(self.start, self.units[:first], self.size - size), Group(end, self.units[first:], size)


def grouped(units: Sequence[Unit], spans: Sequence[Span]) -> list[Group]:
    """Return the units of each span; the spans end where units do."""
    groups = []
    first = 0
    for start, end in spans:
        last = first
        while units[last].end < end:
            last += 1
        own = units[first : last + 1]
        groups.append(Group(start, own, sum(unit.size for unit in own)))
        first = last + 1
    return groups


def even_groups(start: int, units: Sequence[Unit], target: int, limit: int) -> list[Group]:
    """Return few groups of similar size; none ends with a heading if the next one has room for it.

    Parameters:
        start: first character of the first unit.
        units: in order, without gaps.
        target: of a group, in quarters of a token; see `splitting.even_spans`.
        limit: of a group with the heading taken over, in quarters of a token.
    """
    groups = grouped(units, even_spans(start, list(units), target))
    result: list[Group] = []
    for group in reversed(groups):
        size = _size_of_last_headings(group)
        if result and size and result[-1].size + size <= limit:
            before, headings = group.parted(size)
            result[-1] = headings.followed_by(result[-1])
            result.extend([before] if before.units else [])
        else:
            result.append(group)
    return result[::-1]


def _size_of_last_headings(group: Group) -> int:
    headings = takewhile(lambda unit: unit.strength == AFTER_HEADING, reversed(group.units))
    return sum(unit.size for unit in headings)


def joined(groups: Sequence[Group], limit: int, least: int) -> list[Group]:
    """Join groups under the least size to the previous or next one, up to the limit."""
    result: list[Group] = []
    for group in groups:
        before = result[-1] if result else None
        if before and min(before.size, group.size) < least and before.size + group.size <= limit:
            result[-1] = before.followed_by(group)
        else:
            result.append(group)
    return result


def long_warnings(units: Sequence[Unit], limit: int, option: str, value: int) -> list[str]:
    """Warn of sentences over a limit in quarters of a token."""
    sizes = [unit.size for unit in units if unit.size > limit]
    if not sizes:
        return []
    largest = -(-max(sizes) // QUARTERS)
    return [
        f"{len(sizes)} sentences or fences are over {option}={value} and stay whole; the longest has {largest} tokens."
    ]


def _overlapping(groups: Sequence[Group], limit: int, most: int) -> Iterator[Piece]:
    for before, group in zip([None, *groups], groups, strict=False):
        start = _overlap_start(before, limit - group.size, most) if before else group.start
        yield Piece(group.start, group.end, "text", overlap=group.start - start)


def _overlap_start(before: Group, room: int, most: int) -> int:
    """Return the start of a group's last sentences that fit into another; never of the whole group."""
    starts = [before.start, *(unit.end for unit in before.units)]
    first = len(before.units)
    while first > max(len(before.units) - most, 1) and before.units[first - 1].size <= room:
        first -= 1
        room -= before.units[first].size
    return starts[first]

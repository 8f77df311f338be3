"""Cut a tree of chunks by headings: small children for finding, inside parents for reading."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cqm.chunkers.model import Cut, Piece
from cqm.chunkers.splitting import Span
from cqm.chunkers.strategies.content import Section, sections_of
from cqm.chunkers.strategies.rules import TOKENIZER, Flag, Rule, Whole, Words
from cqm.chunkers.strategies.sentence import even_groups, measure_of
from cqm.chunkers.strategies.sentences import sentences_of
from cqm.chunkers.tokens import QUARTERS, Tokenizer, quarters

# Characters searched for a first sentence, and its longest form.
_REACH = 2_000
_LONGEST = 400

# Underlines of headings, and fences.
_MARKUP_LINE = re.compile(r"[ \t]*(?:([=\-~^\"'`#*+_:.])\1{2,}[^\n]*|```[^\n]*)(?:\n|\Z)")


def summary(text: str, sections: Sequence[Section], limit: int) -> str:
    """Return the headings of sections, in order, each with the first sentence under it.

    Parameters:
        sections: one section and those inside it.
        limit: in quarters of a token; the rest is left out.
    """
    lines: list[str] = []
    size = 0
    for section in sections:
        heading = f"{'#' * len(section.path)} {section.path[-1]}" if section.path else ""
        for line in (heading, _first_sentence(text, section)):
            size += quarters(line)
            if size > limit and lines:
                return "\n".join(lines)
            if line:
                lines.append(line)
    return "\n".join(lines)


def _first_sentence(text: str, section: Section) -> str:
    start = _after_heading(text, section)
    reach = min(start + _REACH, section.end)
    units = sentences_of(text, (start, reach)) if start < reach else []
    return " ".join(text[start : units[0].end].split())[:_LONGEST] if units else ""


def _after_heading(text: str, section: Section) -> int:
    """Return the start of a section's text, after the line with its title and the underline."""
    position = section.start
    title = section.path[-1].split()[:1] if section.path else []
    while title and position < section.end:
        end = (text.find("\n", position, section.end) + 1) or section.end
        has_title = title[0] in text[position:end]
        position = end
        if has_title:
            break
    underline = _MARKUP_LINE.match(text, position, section.end)
    return underline.end() if underline else position


SUMMARY = "summary"
"""Kind of a piece with a summary of its section."""


@dataclass(frozen=True, slots=True)
class HierarchicalOptions:
    """A tree of sections; sizes are in tokens of the tokenizer, or estimated ones (`tokens.estimate`).

    Attributes:
        max_depth: headings nested deeper begin no section. 1 to 6.
        parent_tokens: the limit of a chunk with children. 128 to 8192.
        child_tokens: the limit of chunks without children; only a longer sentence is larger, up to parent_tokens. 64 to
            parent_tokens.
        min_tokens: a smaller child is joined to a neighbour under the same parent, within child_tokens. 0 to
            child_tokens.
        inherit_context: whether the headings above a chunk are its context.
        summaries: whether every section of several chunks begins with a summary spanning all of it: the parent, whose
            `content` is its headings and the first sentences under them.
        heading_patterns: regular expressions of heading lines, the outermost level first, instead of the text type's
            own: ("Chapter .*", "Section .*").
        tokenizer: counts exactly; None for the estimate.
    """

    max_depth: int = 3
    parent_tokens: int = 1024
    child_tokens: int = 256
    min_tokens: int = 64
    inherit_context: bool = True
    summaries: bool = False
    heading_patterns: tuple[str, ...] = ()
    tokenizer: Tokenizer | None = None


HIERARCHICAL_RULES: Mapping[str, Rule] = {
    "max_depth": Whole(1, 6),
    "parent_tokens": Whole(128, 8192),
    "child_tokens": Whole(64, lambda options: options.parent_tokens),
    "min_tokens": Whole(0, lambda options: options.child_tokens),
    "inherit_context": Flag(),
    "summaries": Flag(),
    "heading_patterns": Words(),
    "tokenizer": TOKENIZER,
}


def cut_hierarchical(text: str, language: str, options: HierarchicalOptions) -> Cut:
    """Cut a text into a tree, a chunk before those inside it; see `HierarchicalOptions`.

    A section within child_tokens is one chunk. One within parent_tokens is a chunk with children. In a larger one, the
    text before its first inner section is the parent, or the first part of this text within parent_tokens; it also has
    children for this text, a single one if it is small, even just a heading; small inner sections side by side have a
    parent of their own. So the chunks without children tile the text, whatever the levels: embedding only these loses
    nothing. Each lies in its parent, but for a small section alone between large ones.
    """
    sections = sections_of(text, language, options.max_depth, options.heading_patterns)
    tree = _Tree(text, sections, options, measure_of(options.tokenizer))
    return tree.pieces(), []


Branch = list[Piece]
"""A piece and its descendants, in order."""


@dataclass(frozen=True, slots=True)
class _Tree:
    text: str
    sections: Sequence[Section]
    options: HierarchicalOptions
    measure: Callable[[str], int]

    def pieces(self) -> list[Piece]:
        branches = self._packed(self._branches((0, len(self.sections)), 0))
        return [piece for branch in branches for piece in branch]

    def _branches(self, sections: Span, level: int) -> Iterator[Branch]:
        """Yield the sections of a range, with nested sections below them."""
        first, end = sections
        while first < end:
            depth = len(self.sections[first].path)
            after = first + 1
            while after < end and len(self.sections[after].path) > depth > 0:
                after += 1
            # Text before the first heading is in no section.
            yield from [self._branch((first, after), level)] if depth else self._parents(first, level)
            first = after

    def _branch(self, sections: Span, level: int) -> Branch:
        first, end = sections
        span = (self.sections[first].start, self.sections[end - 1].end)
        node = self._piece(span, first, level)
        size = self._size(span)
        if size <= self.options.child_tokens * QUARTERS:
            return [node]
        fits = size <= self.options.parent_tokens * QUARTERS
        below = list(self._branches((first + 1, end), level + 1))
        if not fits and not self.options.summaries:
            head, *rest = self._parents(first, level)
            return self._under(head, [*map(_lowered, rest), *below], first)
        own = self._children(first, level + 1) if fits else self._parents(first, level + 1)
        inside = self._packed([*own, *below])
        if len(inside) == 1:
            return [node._replace(end=inside[0][0].end)]
        if self.options.summaries:
            content = summary(self.text, self.sections[first:end], self.options.child_tokens * QUARTERS)
            node = node._replace(kind=SUMMARY, content=content)
        return _flat([[node], *inside])

    def _parents(self, section: int, level: int) -> list[Branch]:
        """Return a section's text before its inner sections, as one or more parts within parent_tokens."""
        branches: list[Branch] = []
        for span in self._spans(self._own(section), self.options.parent_tokens):
            parent = self._piece(span, section, level)
            is_small = self._size(span) <= self.options.child_tokens * QUARTERS
            children = [] if is_small else self._children(section, level + 1, span)
            branches.append(_flat([[parent], *children]) if len(children) > 1 else [parent])
        return branches

    def _children(self, section: int, level: int, span: Span | None = None) -> list[Branch]:
        spans = self._spans(span or self._own(section), self.options.child_tokens)
        return [[self._piece(own, section, level)] for own in spans]

    def _under(self, head: Branch, inside: list[Branch], section: int) -> Branch:
        """Return a section too large for one chunk; its bare heading joins the first inner chunk if it fits."""
        children = self._packed(inside)
        first = children[0] if children else []
        if len(head) == 1 and len(first) == 1 and self._may_join(head[0], first[0]):
            head, children = [_joined(head[0], first[0])], children[1:]
        # The parent is not a leaf, so its own text becomes one.
        own = _lowered(head) if len(head) == 1 and children else []
        return _flat([head, own, *self._gathered(children, section)])

    def _gathered(self, branches: Sequence[Branch], section: int) -> Iterator[Branch]:
        """Yield branches, with neighbouring leaves gathered in a parent within parent_tokens, to read them together."""
        leaves: list[Piece] = []
        size = 0
        for branch in [*branches, []]:
            own = self._size((branch[0].start, branch[0].end)) if len(branch) == 1 else 0
            if len(branch) != 1 or size + own > self.options.parent_tokens * QUARTERS:
                yield from [self._with_parent(leaves, section)] if leaves else []
                leaves, size = [], 0
            if len(branch) == 1:
                leaves.append(branch[0])
                size += own
            elif branch:
                yield branch

    def _with_parent(self, leaves: Sequence[Piece], section: int) -> Branch:
        if len(leaves) == 1:
            return [*leaves]
        parent = self._piece((leaves[0].start, leaves[-1].end), section, leaves[0].level)
        defines = tuple(name for leaf in leaves for name in leaf.defines)
        return [parent._replace(defines=defines), *_lowered([*leaves])]

    def _packed(self, branches: Iterable[Branch]) -> list[Branch]:
        packed: list[Branch] = []
        for branch in branches:
            before = packed[-1] if packed else []
            if len(before) == 1 and len(branch) == 1 and self._may_join(before[0], branch[0]):
                packed[-1] = [_joined(before[0], branch[0])]
            else:
                packed.append(branch)
        return packed

    def _may_join(self, before: Piece, after: Piece) -> bool:
        sizes = self._size((before.start, before.end)), self._size((after.start, after.end))
        least, most = self.options.min_tokens * QUARTERS, self.options.child_tokens * QUARTERS
        return min(sizes) < least and sum(sizes) <= most

    def _own(self, section: int) -> Span:
        return self.sections[section].start, self.sections[section].end

    def _spans(self, span: Span, limit: int) -> list[Span]:
        longest = self.options.parent_tokens * QUARTERS
        units = sentences_of(self.text, span, self.measure, longest)
        groups = even_groups(span[0], units, limit * QUARTERS, longest)
        return [(group.start, group.end) for group in groups]

    def _size(self, span: Span) -> int:
        return self.measure(self.text[span[0] : span[1]])

    def _piece(self, span: Span, section: int, level: int) -> Piece:
        path = self.sections[section].path
        above = path[:-1] if span[0] == self.sections[section].start else path
        headings = (f"{'#' * depth} {title}" for depth, title in enumerate(above, 1))
        return Piece(
            *span,
            "section" if path else "text",
            " > ".join(path),
            defines=self._defined(span, section),
            context="\n".join(headings) if self.options.inherit_context else "",
            level=level,
            headings=path,
        )

    def _defined(self, span: Span, section: int) -> tuple[str, ...]:
        names = []
        while section < len(self.sections) and self.sections[section].start < span[1]:
            if self.sections[section].path and self.sections[section].start >= span[0]:
                names.append(" > ".join(self.sections[section].path))
            section += 1
        return tuple(names)


def _joined(before: Piece, after: Piece) -> Piece:
    return before._replace(end=after.end, defines=before.defines + after.defines)


def _lowered(branch: Branch) -> Branch:
    return [piece._replace(level=piece.level + 1) for piece in branch]


def _flat(branches: Iterable[Branch]) -> Branch:
    return [piece for branch in branches for piece in branch]

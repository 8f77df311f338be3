"""Find English and Japanese sentences with exact offsets; the adapter of `sentencex`."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

from cqm.chunkers.documents.blocks import Block, after_number, blocks_of
from cqm.chunkers.model import later
from cqm.chunkers.splitting import Span, Unit, line_strength, line_units
from cqm.chunkers.tokens import QUARTERS, quarters

LONGEST = 8192
"""Tokens of a sentence or fence; longer ones are divided at lines or words, since no model reads more at once."""

# Ratings of a cut after a sentence; a heading stays with the text after it.
AFTER_HEADING, AFTER_SENTENCE, AFTER_PARAGRAPH, BEFORE_HEADING = range(4)

# On hostile quotes, sentencex's time grows with the square of a text's length.
_AT_ONCE = 2_000

# Whether a sentence ends at a cut made only for reading.
_STOPPED = later(r"[.!?。！？][\"')\]」』）]*\s*\Z")  # noqa: RUF001 - full-width
_STOP_REACH = 16

# Before these characters, as at lone surrogates, sentencex 1.0.32 miscounts characters or panics.
_UNUSUAL_SPACE = later(r"[^\S\n ]")
_SURROGATE = later("[\ud800-\udfff]")


# Closing brackets and quotes of a sentence are a part of it.
_CLOSES = "」』）】〕〉》］｝〟｣”’\\]\\)"  # noqa: RUF001 - full-width
_CLOSING = later(f"[{_CLOSES}]+")
# A quotation with a full stop inside goes on with a particle: 「そうです。」と言った。
_QUOTED = later(f"[.!?。！？][{_CLOSES}\"']{{1,4}}\\s?\\Z")  # noqa: RUF001 - full-width
_PARTICLE = later("[\u3041-\u3096、―—]")
# Words beginning a sentence, though they begin with a letter of a particle.
_OPENS = later(
    "これ|それ|あれ|ここ|そこ|この|その|あの|こう[しい]|そう[しいで]|そして|しかし|しかも|また[、そ]|まず|さらに|すると|だから|ですが"
    "|とても|ところ|なお|なぜ|ならば|もし|もちろん|やがて|いま|つまり|たとえば|ただし|ちなみに|おそらく|きっと|みんな|わたし|ぼく|あなた"
)
# Speech ends with "!" or "?" and goes on without a bracket, or after a space or a line's end.
_EXCLAIMED = later(r"[!?！？]\Z")  # noqa: RUF001 - full-width
_SAID = later(r"と(?:[言云叫聞訊問答思尋呼書記述話語考感告怒笑泣声]|い[いうえわっ])|って(?!も)")


def sentences_of(
    text: str,
    span: Span,
    measure: Callable[[str], int] = quarters,
    longest: int = LONGEST * QUARTERS,
    delimiters: Sequence[str] = (),
) -> list[Unit]:
    """Return the sentences of a part of a text as gapless units; white space belongs to the previous sentence.

    Fences, headings, list items and table rows are sentences of their own, or more than one.

    Parameters:
        span: characters of the text, from the start of a line.
        measure: the size of a text, in quarters of a token.
        longest: longer sentences are divided; in quarters of a token.
        delimiters: end a sentence, in place of the rules of English and Japanese: ASCII ones before white space, others
            anywhere.
    """
    ends_in = _delimited(delimiters) if delimiters else _usual_ends
    blocks = list(blocks_of(text, span))
    following = [*(block.kind for block in blocks[1:]), "heading"]
    units: list[Unit] = []
    for block, after in zip(blocks, following, strict=False):
        ends = _ends_of(text, block, ends_in)
        for sentence in pairwise([block.start, *ends]):
            units.extend(_parts(text, sentence, measure, longest))
        if units:
            units[-1] = units[-1]._replace(strength=_strength(block, after))
    return units


def _ends_of(text: str, block: Block, ends_in: Callable[[str, Span], list[int]]) -> list[int]:
    if block.kind in ("fence", "heading", "row"):
        return [block.end]
    return ends_in(text, (after_number(text, block), block.end))


def _usual_ends(text: str, span: Span) -> list[int]:
    ends: list[int] = []
    for start, end in _bounded(text, span):
        if ends and not _STOPPED.search(text, max(ends[-1] - _STOP_REACH, span[0]), ends[-1]):
            ends.pop()
        ends.extend(_sentence_ends(text, (start, end)))
    return ends


def _delimited(delimiters: Sequence[str]) -> Callable[[str, Span], list[int]]:
    words = (
        re.escape(it) + (r"(?=\s|\Z)" if it.isascii() else f"[{_CLOSES}]*")
        for it in sorted(delimiters, key=len, reverse=True)
    )
    pattern = re.compile(f"(?:{'|'.join(words)})\\s*")

    def ends_in(text: str, span: Span) -> list[int]:
        found = [end for match in pattern.finditer(text, *span) if not _goes_on(text, end := match.end())]
        return found if found and found[-1] == span[1] else [*found, span[1]]

    return ends_in


def _strength(block: Block, following: str) -> int:
    if block.kind == "heading":
        return AFTER_HEADING
    if following == "heading":
        return BEFORE_HEADING
    return AFTER_PARAGRAPH if block.is_closed else AFTER_SENTENCE


def _bounded(text: str, span: Span) -> Iterator[Span]:
    """Yield a block in parts short enough to read at once, cut after lines or words."""
    start, end = span
    while end - start > _AT_ONCE:
        reach = start + _AT_ONCE
        found = (text.rfind(mark, start, reach) + 1 for mark in ("\n", "。", " "))
        cut = next((cut for cut in found if cut > start), reach)
        yield start, cut
        start = cut
    yield start, end


def _sentence_ends(text: str, span: Span) -> list[int]:
    from sentencex import segment  # type: ignore[import-untyped] # only where sentences are split

    start, end = span
    own = _SURROGATE.sub("?", _UNUSUAL_SPACE.sub(" ", text[start:end].rstrip()))
    sentences = segment("en", own)
    if "".join(sentences) != own or not own:
        return [end]
    ends = list(accumulate(map(len, sentences), initial=start))
    closed = dict.fromkeys(_closed(text, it, end) for it in ends[1:-1])
    return [*(it for it in closed if it < end and not _goes_on(text, it)), end]


def _closed(text: str, at: int, end: int) -> int:
    """Return the end of a sentence with the closing brackets right after it."""
    closing = None if text[at - 1].isspace() else _CLOSING.match(text, at, end)
    return closing.end() if closing else at


def _goes_on(text: str, end: int) -> bool:
    """Tell if a sentence goes on after a quotation or an exclamation: with a particle, or with who said it."""
    before = max(end - _STOP_REACH, 0)
    if _SAID.match(text, end):
        return bool(_QUOTED.search(text, before, end) or _EXCLAIMED.search(text, before, end))
    is_particle = _PARTICLE.match(text, end) and not _OPENS.match(text, end)
    return bool(is_particle and not text[end - 1].isspace() and _QUOTED.search(text, before, end))


def _parts(text: str, span: Span, measure: Callable[[str], int], longest: int) -> Iterator[Unit]:
    size = measure(text[span[0] : span[1]])
    if size <= longest:
        yield Unit(span[1], size, AFTER_SENTENCE)
        return
    start = span[0]
    for unit in line_units(text, span, longest, line_strength):
        yield Unit(unit.end, measure(text[start : unit.end]), min(unit.strength, AFTER_SENTENCE))
        start = unit.end

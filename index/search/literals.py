"""Find the few chunks with the very words of a question: a quoted phrase, a message, lines of code."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from cqm.chunkers.source_types import PROSE_TYPES, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.exact import FEW
from cqm.index.ranking.file_roles import DOCUMENT
from cqm.index.ranking.question import Question
from cqm.index.store.base import TERMS, Nearest, PointFilter
from cqm.index.text.exact_words import (
    copied_in,
    format_fit,
    is_caption,
    is_topic,
    literal_parts,
    saying_it,
    weighed_words,
    whole_words_of,
)
from cqm.index.text.terms import WORD, SparseTerms, distinct_terms, query_terms

# `tests/bench/pasted.py` says what most are worth: 80 pasted texts of Python's library and 80 of others. Half or twice
# the bounds on the work changes no answer to the former; with half of `_POSTINGS` or of `_MOST_WORDS`, 21 of the latter
# are told as found instead of 20.
_COPIED_DEPTH = 20
"""Best chunks to look in for a question perhaps copied from a file: most are not."""
_PASTED_DEPTH = 50
"""The same for a surely pasted question."""
_RARE = 128
"""Chunks with a word to ask for first: each of them costs a microsecond, and of a rarer word these are all."""
_POSTINGS = 3_000
"""Chunks to ask for with the rarest word of a text: a word of more tells nothing."""
_FEWER = 1_000
"""The same for a phrase, where all words count; and for the best chunks of a text with only more common words."""
_MOST_WORDS = 8
"""Words of a phrase required of a chunk before it is looked into."""
_SEVERAL = 4
"""Least words of a text for one to be a value missing in the chunk."""
_MOST_READ = 200
"""Chunks with all of these words to look into."""
_LEAST_RUN, _LEAST_CHARACTERS = 2, 15
"""Words in a row shared by a chunk and a pasted text, and the characters of the longest run.

With these, 35 of 40 messages come first: 33 with runs of one word, 28 of four; 28 with a longest run of 30 characters,
35 of 7.
"""
_LEAST_SHARE = 0.5
"""Share of a pasted text's characters in such runs, in the chunk it was copied from.

With the whole text 30 of 40 messages come first, and 27 pieces of code with a name renamed, of 32. A quarter finds 34.
"""
_REMARK = re.compile(r"^\s*(?://|#|\*|--|;|/\*|<!--|%)|\s(?://|#|--)\s")
"""A row up to its comment."""
_LEAST_SENTENCE = 0.25
"""Least sentence likeness for a question not to be a topic: "Align header with the list" may be a comment."""
_CATALOGS = (".po", ".pot", ".xlf", ".xliff")
_MOST_IN_RUNS = 80
"""Words of a pasted text to compare."""


class Said(NamedTuple):
    """The few chunks with an exact text.

    Attributes:
        texts: in them, whole or mostly.
        is_whole: whether they have the exact texts, not only most of them.
    """

    ids: Sequence[str] = ()
    texts: Sequence[str] = ()
    is_whole: bool = True


def saying(generation: Generation, question: Question, found: Mapping[str, float], keep: PointFilter | None) -> Said:
    """Find the few chunks with a phrase of a question, or with the text it may be copied from.

    Parameters:
        found: BM25 of the chunks found for its words, by id.
    """
    having = {phrase: _by_people(generation, _with_phrase(generation, phrase, keep)) for phrase in question.phrases}
    phrases = _said(having.items())
    # A longer phrase found nowhere may be a message with values, such as an error in JSON.
    longest = max(map(len, phrases.texts), default=0)
    unsaid = [phrase for phrase, ids in having.items() if not ids and len(phrase) > max(longest, _LEAST_CHARACTERS)]
    if phrases.ids:
        most = _saying_most(generation, question, unsaid, found, keep)
        return most if most.ids else phrases
    caption = question.said.strip()
    if is_caption(caption) and (captioned := _by_people(generation, _with_caption(generation, caption, keep))):
        is_plain = is_topic(caption) and question.sentence < _LEAST_SENTENCE
        return _said([(question.said, _of_topic(generation, caption, captioned) if is_plain else captioned)])
    if question.copied:
        texts = _texts(generation, _best(generation, found))
        for form in question.copied:
            if copied := _by_people(generation, saying_it(form, texts)):
                # Without a head, such as the level of a log, it is a message.
                is_plain = form == question.copied[0] and is_topic(form)
                return _said([(question.said, _in_programs(generation, form, copied) if is_plain else copied)])
    return _saying_most(generation, question, [*question.pasted, *unsaid], found, keep)


def _saying_most(
    generation: Generation,
    question: Question,
    texts: Iterable[str],
    found: Mapping[str, float],
    keep: PointFilter | None,
) -> Said:
    """Find the few chunks with most of some pasted texts, or with the format strings behind them."""
    made, most = [], []
    for text in texts:
        near = _texts(generation, _near(generation, question, text, found, keep))
        if ids := _by_people(generation, _making(text, near)):
            made.append((text, ids))
        else:
            most.append((text, _by_people(generation, _with_runs(text, near))))
    return _said(made) if made else _said(most)._replace(is_whole=False)


def _making(text: str, texts: Mapping[str, str]) -> list[str]:
    """Return the ids of the texts with the format strings behind a message that have the most letters."""
    if "\n" in text:
        return []
    fits = {name: max(format_fit(form, said) for form in copied_in(text) or [text]) for name, said in texts.items()}
    most = max(fits.values(), default=0)
    return [name for name, fit in fits.items() if fit == most and most]


def _said(found: Iterable[tuple[str, Sequence[str]]]) -> Said:
    """Join the chunks found for some texts; of a text in many chunks none, for they tell nothing."""
    few = [(text, ids) for text, ids in found if 0 < len(ids) <= FEW]
    return Said([name for _, ids in few for name in ids], [text for text, _ in few])


def _by_people(generation: Generation, ids: Sequence[str]) -> list[str]:
    """Return the ids of handwritten chunks; all if there are none, as tools copy comments of the program."""
    generated = {it.id for it in generation.candidates.of(ids) if it.is_generated}
    return [name for name in ids if name not in generated] or [*ids]


def _best(generation: Generation, found: Mapping[str, float]) -> list[str]:
    """Return the ids of the best handwritten chunks, and of generated ones as good as these."""
    best = nlargest(_COPIED_DEPTH, found, key=found.__getitem__)
    generated = {it.id for it in generation.candidates.of(found) if it.is_generated}
    if generated.isdisjoint(best):
        return best
    by_people = {name: score for name, score in found.items() if name not in generated}
    return [*dict.fromkeys([*nlargest(_COPIED_DEPTH, by_people, key=found.__getitem__), *best])]


def _with_phrase(generation: Generation, phrase: str, keep: PointFilter | None) -> list[str]:
    """Return the ids of chunks with a phrase; its first and last word may be cut."""
    for part in (phrase, whole_words_of(phrase)):
        if having := saying_it(phrase, _texts(generation, _with_words(generation, [part], keep))):
            return having
    return []


def _with_caption(generation: Generation, caption: str, keep: PointFilter | None) -> list[str]:
    """Return the ids of chunks with a caption as it is written: such short texts also stand in other spellings."""
    words = r"\s+".join(map(re.escape, caption.split()))
    written = re.compile(rf"(?<!\w){words}(?!\w)")
    texts = _texts(generation, _with_words(generation, [caption], keep))
    having = [name for name, text in texts.items() if written.search(text)]
    # A catalog of translations repeats it for each language; it is asked for where the program says it.
    own = [it.id for it in generation.candidates.of(having) if not it.path.lower().endswith(_CATALOGS)]
    return own or having


def _in_programs(generation: Generation, topic: str, ids: Sequence[str]) -> list[str]:
    """Return the ids of chunks with a text outside of comments, and of no document.

    "commit message history" is a topic; a changelog or a comment with these words is no answer.
    """
    words = re.compile(r"\s+".join(map(re.escape, topic.split())), re.IGNORECASE)
    chunks = generation.candidates.of(ids)
    plain = {it.id: it for it in chunks if (role := it.role) is None or role.name != DOCUMENT}
    return [
        name
        for name, text in _texts(generation, [*plain]).items()
        # The text of a page has its headings as in Markdown, "## Orders", which are no comments.
        if source_type_of(plain[name].language) in PROSE_TYPES
        or any(not _is_remark(text, it.start()) for it in words.finditer(text))
    ]


def _of_topic(generation: Generation, caption: str, ids: Sequence[str]) -> list[str]:
    """Return the ids of the chunks with a short caption in a program, or else as their heading."""
    if programs := _in_programs(generation, caption, ids):
        return programs
    heading = re.compile(rf"^[#=]*\s*{re.escape(' '.join(caption.split()))}\s*[#=]*$", re.MULTILINE)
    pages = [it.id for it in generation.candidates.of(ids) if source_type_of(it.language) in PROSE_TYPES]
    return [name for name, text in _texts(generation, pages).items() if heading.search(text)]


def _is_remark(text: str, at: int) -> bool:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return _REMARK.search(before) is not None or text.count('"""', 0, at) % 2 == 1


def _near(
    generation: Generation, question: Question, text: str, found: Mapping[str, float], keep: PointFilter | None
) -> list[str]:
    """Return the ids of the chunks a pasted text may come from."""
    if text != question.said:
        (found,) = generation.store.search([Nearest(TERMS, query_terms(text), _PASTED_DEPTH, keep)])
    best = nlargest(_PASTED_DEPTH, found, key=found.__getitem__)
    return [*dict.fromkeys([*best, *_with_words(generation, literal_parts(text), keep, may_lack_one=True)])]


def _with_runs(text: str, near: Mapping[str, str]) -> list[str]:
    """Return the ids of the texts with most of a pasted one, in runs of its words."""
    texts = {name: " ".join(text.lower().split()) for name, text in near.items()}
    forms = [text] if "\n" in text else copied_in(text)
    return next((having for form in forms if (having := _sharing(form, texts))), [])


def _sharing(form: str, texts: Mapping[str, str]) -> list[str]:
    """Return the ids of the texts with the largest part of a pasted one, if it is large enough."""
    weighed = [(word, 1.0) for word in form.lower().split()] if "\n" in form else weighed_words(form)
    words = weighed[:_MOST_IN_RUNS]
    # The values in a message are in no file.
    total = sum(len(word) for word, weight in words if weight == 1)
    runs = {name: _runs(words, said) for name, said in texts.items()}
    most = max((run.total for run in runs.values()), default=0)
    if most < _LEAST_SHARE * total:
        return []
    return [name for name, run in runs.items() if run.total == most and run.longest >= min(_LEAST_CHARACTERS, total)]


class _Runs(NamedTuple):
    """Weight of a chunk's words in runs: the sum, and the heaviest run."""

    total: float
    longest: float


def _runs(words: Sequence[tuple[str, float]], said: str) -> _Runs:
    """Weigh the runs of words found in a text."""
    total = longest = 0.0
    start = 0
    while start + _LEAST_RUN <= len(words):
        end = start + _LEAST_RUN
        run = _run(words[start:end])
        if not run or run not in said:
            start += 1
            continue
        while end < len(words) and _run(words[start : end + 1]) in said:
            end += 1
        own = sum(weight * len(word) for word, weight in words[start:end])
        total, longest, start = total + own, max(longest, own), end
    return _Runs(total, longest)


def _run(words: Sequence[tuple[str, float]]) -> str:
    """Join words as files may have them: signs at both ends may be of the message."""
    return " ".join([word for word, _ in words]).strip("\"'`.,:;!?()[]")


def _with_words(
    generation: Generation, parts: Iterable[str], keep: PointFilter | None, *, may_lack_one: bool = False
) -> list[str]:
    """Return the ids of the chunks with all words of any of some texts, best first.

    Each word is searched alone: BM25 of all words prefers short chunks with some of them.

    Parameters:
        may_lack_one: where no chunk has all of several words, return those lacking one, as it may be a value.
    """
    wanted = [_terms(part) for part in parts]
    terms = [*dict.fromkeys(term for part in wanted for term in part)]
    few = dict(zip(terms, generation.store.search([_with_term(it, _RARE, keep) for it in terms]), strict=True))
    scores: dict[str, float] = {}
    for part in wanted:
        most = _POSTINGS if may_lack_one else _FEWER
        scores |= _in_all(_Postings(generation, few, keep, most), part, may_lack_one=may_lack_one)
    return nlargest(_MOST_READ, scores, key=lambda name: (scores[name], name))


@dataclass(frozen=True, slots=True)
class _Postings:
    """The chunks with some terms.

    Attributes:
        few: of each term the best chunks with their scores by id, at most `_RARE`.
        most: chunks with a term to ask for.
    """

    generation: Generation
    few: Mapping[int, Mapping[str, float]]
    keep: PointFilter | None
    most: int

    def of(self, term: int) -> Mapping[str, float]:
        """Return the chunks with a term, at most `most`."""
        few = self.few[term]
        return few if len(few) < _RARE else self._search(_with_term(term, self.most, self.keep))

    def best(self, terms: Sequence[int]) -> Mapping[str, float]:
        """Return the best chunks for some terms together."""
        return self._search(Nearest(TERMS, SparseTerms(tuple(terms), (1.0,) * len(terms)), _FEWER, self.keep))

    def among(self, term: int, ids: Collection[str]) -> Mapping[str, float]:
        """Return the chunks with a term, of others than some maybe not all."""
        few = self.few[term]
        is_known = len(few) < _RARE or not ids
        return few if is_known else self._search(_with_term(term, len(ids), PointFilter(ids=tuple(ids))))

    def _search(self, search: Nearest) -> Mapping[str, float]:
        return self.generation.store.search([search])[0]


def _in_all(postings: _Postings, terms: Iterable[int], *, may_lack_one: bool) -> Mapping[str, float]:
    """Return the scores by id of the chunks with all of some terms; see `_with_words`.

    The rarest term is searched first, the others only among its chunks: the cost of a search grows with its results.
    """
    few = postings.few
    # Terms with cut lists have equally many chunks: the best chunk of a rarer term has a higher score.
    terms = sorted(terms, key=lambda term: (len(few[term]), -max(few[term].values(), default=0.0)))
    if not terms:
        return {}
    known = {terms[0]: postings.of(terms[0])}
    ids: AbstractSet[str] = known[terms[0]].keys()
    if len(ids) >= postings.most:
        known, ids = {}, postings.best(terms).keys()
    found = _having(postings, terms, known, ids, 0)
    if found or not may_lack_one or len(terms) < _SEVERAL:
        return found
    if known:
        # A chunk lacking only one term has one of the two rarest.
        known[terms[1]] = postings.of(terms[1])
        ids = ids | known[terms[1]].keys()
    return _having(postings, terms, known, ids, 1)


def _having(
    postings: _Postings, terms: Sequence[int], known: Mapping[int, Mapping[str, float]], ids: Iterable[str], most: int
) -> Mapping[str, float]:
    """Return the scores of chunks lacking at most `most` terms; `known` are all chunks with a term."""
    scores, lacks = dict.fromkeys(ids, 0.0), Counter[str]()
    for term in terms:
        found = known.get(term) or postings.among(term, scores)
        lacks.update(scores.keys() - found.keys())
        scores = {name: score + found.get(name, 0.0) for name, score in scores.items() if lacks[name] <= most}
    return scores


def _with_term(term: int, limit: int, keep: PointFilter | None) -> Nearest:
    return Nearest(TERMS, SparseTerms((term,), (1.0,)), limit, keep)


def _terms(part: str) -> list[int]:
    """Return the terms of the longest words of a text."""
    words = sorted({*WORD.findall(part)}, key=lambda word: (-len(word), word))
    return sorted(distinct_terms(" ".join(words[:_MOST_WORDS])))


def _texts(generation: Generation, ids: Sequence[str]) -> dict[str, str]:
    """Return the texts of chunks by id; the first results of a sentence are read again, and these are remembered."""
    chunks = generation.candidates.of(ids)
    read = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    return {chunk.id: text for chunk, text in zip(chunks, read, strict=True)}

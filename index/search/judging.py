"""Judge an answer: collect the signs of its first results."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from cqm.index.embedding.static_model import word_vectors
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.query import Confidence
from cqm.index.ranking.confidence import Judgement, Results, judge, signs_of
from cqm.index.ranking.exact import PART, fitting
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import Ranked
from cqm.index.search.named.defining import has_container
from cqm.index.text.names.standard import needs_container
from cqm.index.text.terms import content_words, distinct_terms

_MOST_WORDS = 64
"""First words of a question, to be weighed: a longer text is a log, and takes time."""
_MOST_KNOWN = 1 << 12
_known_lengths: dict[str, float] = {}
"""By word, since questions repeat words."""


class Seen(NamedTuple):
    """The evidence of an answer.

    Attributes:
        best: its first ten results.
        payloads: of them, by id; one without was replaced meanwhile.
        cosines: of the chunks found, by id, for each vector space with results.
        terms: BM25 by chunk id.
        is_of_kinds: whether a filter keeps some kinds of chunks. Among these a common word is rare: only a definition
            of the name is certain.
        likely: ids of the chunks lifted for a part of the question; whether they answer, all its words tell.
    """

    best: Sequence[Ranked]
    payloads: Mapping[str, Mapping[str, Any]]
    cosines: Mapping[str, Mapping[str, float]]
    terms: Mapping[str, float]
    is_of_kinds: bool = False
    likely: AbstractSet[str] = frozenset()


def judged(
    question: Question,
    seen: Seen,
    chunks: int,
    missing: str,
    *,
    is_file_missing: bool = False,
    is_route_missing: bool = False,
    is_of_others: bool = False,
) -> tuple[Judgement, str]:
    """Judge an answer by its first results; the second value is the reason if all words got equal weights.

    Parameters:
        missing: a note that nothing has the name asked for; empty if something has.
        is_file_missing: whether that is the name of a file: words tell whether the answer is one, never surely.
        is_route_missing: whether nothing declares the route asked for: only a text that has it as written is sure.
        is_of_others: whether it is a qualified name of which the first result has but the last part: nothing is sure.
    """
    best, failed = seen.best, ""
    if missing and not is_file_missing:
        return Judgement(Confidence.LOW), ""
    is_named = bool(best) and PART in best[0].parts and best[0].candidate.id not in seen.likely
    is_file_missing = is_file_missing or is_of_others
    if is_named and not is_file_missing and (not seen.is_of_kinds or _defines(best[0], question.symbol)):
        return Judgement(Confidence.HIGH), ""
    results = results_of(seen)
    try:
        rarity = rarity_of(question) if results.texts else {}
    except EmbeddingError as error:
        rarity, failed = {}, f"The confidence takes all words for equally rare: {error}"
    signs = signs_of(question, results, seen.cosines, seen.terms, chunks, rarity)
    judgement = judge(question, signs)
    is_doubtful = is_file_missing or is_route_missing
    # Neither its file nor most of its lines or its message are here: words that they share with others tell nothing.
    is_elsewhere = bool(question.is_quoted or question.logged) and not (best and PART in best[0].parts)
    if (is_doubtful and is_named) or ((is_doubtful or is_elsewhere) and judgement.confidence is Confidence.HIGH):
        # The first ones are files of almost the name.
        judgement = judgement._replace(confidence=Confidence.LOW)
    return judgement, failed


def is_of_others(generation: Generation, question: Question, seen: Seen, root: str) -> bool:
    """Whether a question is a qualified name of which the first result has but the last part.

    Parameters:
        generation: searched.
        question: with the name that it means, if something has that.
        seen: the results.
        root: folder of the project.
    """
    name = next((it for it in (question.symbol, *question.notations) if it), "")
    if not (seen.best and needs_container(name)):
        return False
    best = seen.best[0].candidate
    said = str(seen.payloads.get(best.id, {}).get("text", ""))
    return question.text.strip("` ") not in said and not has_container(generation, best, name, root)


def _defines(entry: Ranked, symbol: str) -> bool:
    chunk = entry.candidate
    return bool(symbol and fitting([name.removeprefix(".") for name in chunk.defines], symbol, chunk.path))


def results_of(seen: Seen) -> Results:
    """Collect the signs of the first results themselves."""
    texts = [
        f"{it.path}\n{it.symbol}\n{payload.get('context', '')}\n{payload.get('content') or payload.get('text', '')}"
        for it, payload in ((entry.candidate, seen.payloads.get(entry.candidate.id)) for entry in seen.best)
        if payload is not None
    ]
    numbers = [entry.number for entry in seen.best if entry.number is not None]
    if not seen.best:
        return Results(texts, 0.0, 0.0, 0.0, numbers)
    own, of_file = seen.best[0].own, seen.best[0].of_file.features
    return Results(texts, own.name, of_file.file, of_file.path, numbers)


def rarity_of(question: Question) -> dict[int, float]:
    """Return the rarity of a question's words in code, by term: "return" says little, "kernel" much.

    Rarity is the length of the word's vector, trained as its weight. The parts of a name weigh as much as the name.
    Rarity in the index itself is no better: every index has its numbers, values and names.

    Raises:
        EmbeddingError: the built-in model's files are gone or others.
    """
    found: dict[int, float] = {}
    words = list(dict.fromkeys(content_words(question.said)))[:_MOST_WORDS]
    lengths = _lengths([word.lower() for word in words])
    for word in words:
        for term in distinct_terms(word):
            found.setdefault(term, lengths[word.lower()])
    return found


def _lengths(words: Sequence[str]) -> dict[str, float]:
    """Return the lengths of the vectors of words; those not remembered are computed together."""
    lengths = {word: length for word in words if (length := _known_lengths.get(word)) is not None}
    if unknown := [word for word in words if word not in lengths]:
        import numpy as np

        lengths |= zip(unknown, np.linalg.norm(word_vectors(unknown), axis=1).tolist(), strict=True)
        if len(_known_lengths) > _MOST_KNOWN:
            _known_lengths.clear()
        _known_lengths.update(lengths)
    return lengths

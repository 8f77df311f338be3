"""Recommend a strategy for a document by its type and length."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from cqm.chunkers.detect import MARKDOWN, PROSE_FORMATS, language_of
from cqm.chunkers.github.records import is_about_issues
from cqm.chunkers.languages.table import dialect_of
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.source_types import CONFIG, DATA, source_type_of
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.strategies.sentence import SentenceOptions
from cqm.chunkers.strategies.table import Options
from cqm.chunkers.structured.openapi import is_openapi

LARGE_CHARACTERS = 50_000
"""The design documents' limit; longer prose is cut as a tree."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended strategy for a document.

    Attributes:
        document_type: a name of `DOCUMENT_TYPES`.
        strategy: a name for `options_of`.
        options: of this strategy.
        reason: a sentence for people.
    """

    document_type: str
    strategy: str
    options: Options
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentType:
    """A row of the table.

    Attributes:
        reads: tells if a document has this type, from its language and its first characters.
        strategy, options: the recommended ones.
        reason: the reason for them.
        is_prose: whether a large one is better cut as a tree.
    """

    name: str
    reads: Callable[[str, str], bool]
    strategy: str
    options: Options
    reason: str
    is_prose: bool = False


# Number of first characters which decide the type of a text.
_HEAD = 20_000
_LEAST_MARKS = 3
_LEAST_SHARE = 3
"""At least one in this many non-blank lines begins a turn of a conversation."""

_PLAIN = frozenset({MARKDOWN, *(row.name for row in PROSE_FORMATS)})

_QUESTION = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t][^\n]*[?？][ \t]*$|(?:\*\*)?(?:Q|質問)\d{0,3}[.:：)])",  # noqa: RUF001 - full-width
    re.MULTILINE,
)
_TURN = re.compile(
    r"^(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?[ \t]+)?[*<]{0,2}[^\W\d][\w .-]{0,24}[>*]{0,2}[:：][ \t>*]*\S",  # noqa: RUF001 - full-width
    re.MULTILINE,
)
_CLAUSE = re.compile(
    r"^[ \t#*]*(?:"
    r"(?:ARTICLE|Article|SECTION|Section|CLAUSE|Clause|§)[ \t]*[\dIVX]|第[\d一二三四五六七八九十百]{1,6}条)",
    re.MULTILINE,
)
_ABSTRACT = re.compile(r"^[ \t#*\d.]*(?:abstract|概要|要旨|要約)\b", re.IGNORECASE | re.MULTILINE)
_REFERENCES = re.compile(
    r"^[ \t#*\d.]*(?:references|bibliography|参考文献|引用文献)[ \t*:]*$", re.IGNORECASE | re.MULTILINE
)


def _is_faq(language: str, text: str) -> bool:
    return language in _PLAIN and len(_QUESTION.findall(text[:_HEAD])) >= _LEAST_MARKS


def _is_conversation(language: str, text: str) -> bool:
    lines = [line for line in text[:_HEAD].splitlines() if line.strip()]
    turns = sum(1 for line in lines if _TURN.match(line))
    return language in _PLAIN and turns >= _LEAST_MARKS and turns * _LEAST_SHARE >= len(lines)


def _is_legal(language: str, text: str) -> bool:
    return language in _PLAIN and len(_CLAUSE.findall(text[:_HEAD])) >= _LEAST_MARKS


def _is_academic(language: str, text: str) -> bool:
    has_abstract = _ABSTRACT.search(text, 0, _HEAD)
    return language in _PLAIN and bool(has_abstract and _REFERENCES.search(text))


def _is_api(language: str, text: str) -> bool:
    return language in ("json", "yaml") and is_openapi(text)


def _is_issue(language: str, text: str) -> bool:
    return language == "json" and is_about_issues(text)


def _is_data(language: str, _text: str) -> bool:
    return source_type_of(language) in (CONFIG, DATA)


_BY_CONTENT = ChunkOptions()
_SMALL = ChunkOptions(max_tokens=256, min_tokens=64)

# The first to recognise a document wins.
DOCUMENT_TYPES = (
    DocumentType("api-spec", _is_api, "auto", _BY_CONTENT, "an API's description is cut by operation and schema"),
    DocumentType(
        "issue",
        _is_issue,
        "auto",
        _BY_CONTENT,
        "an issue is cut by comment",
    ),
    DocumentType(
        "json",
        _is_data,
        "auto",
        _SMALL,
        "data and settings are found best in chunks of 256 tokens, cut by their structure",
    ),
    DocumentType("html", lambda language, _: language == "html", "auto", _BY_CONTENT, "HTML is cut by heading"),
    DocumentType("pdf", lambda language, _: language == "pdf", "auto", _BY_CONTENT, "a PDF is cut by page"),
    DocumentType(
        "faq",
        _is_faq,
        "sentence",
        SentenceOptions(target_tokens=256, max_tokens=512, sentence_overlap=2),
        "questions and answers are cut after sentences, two of which are repeated",
    ),
    DocumentType(
        "legal",
        _is_legal,
        "hierarchical",
        HierarchicalOptions(),
        "clauses are found one by one and read within their article",
    ),
    DocumentType(
        "academic",
        _is_academic,
        "hierarchical",
        HierarchicalOptions(),
        "a paper's paragraphs are found one by one and read within their section",
    ),
    DocumentType(
        "conversation",
        _is_conversation,
        "sentence",
        SentenceOptions(target_tokens=256, max_tokens=512, sentence_overlap=2),
        "what is said is cut between speakers, with what was said just before",
    ),
    DocumentType(
        "markdown",
        lambda language, _: language == MARKDOWN,
        "auto",
        _BY_CONTENT,
        "Markdown is cut by heading",
        is_prose=True,
    ),
    DocumentType(
        "text",
        lambda language, _: language in _PLAIN,
        "auto",
        _BY_CONTENT,
        "text is cut at headings, paragraphs, then sentences",
        is_prose=True,
    ),
    DocumentType("code", lambda _language, _: True, "auto", _BY_CONTENT, "code is cut by symbol"),
)

_TREE = HierarchicalOptions()


def recommended(document: Document) -> Recommendation:
    """Recommend a strategy by a document's type and length: the design documents' 10 types, and questions with answers.

    Only the first 20,000 characters are read, except for a paper's references.
    """
    text = document.text
    language = document.language or dialect_of(language_of(document.path, text), text)
    row = next(row for row in DOCUMENT_TYPES if row.reads(language, text))
    if row.is_prose and len(text) > LARGE_CHARACTERS:
        reason = (
            f"prose of more than {LARGE_CHARACTERS:,} characters is found in small chunks and read in their sections"
        )
        return Recommendation(row.name, "hierarchical", _TREE, reason)
    return Recommendation(row.name, row.strategy, row.options, row.reason)

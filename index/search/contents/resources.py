"""Find a text shown by an application: its line in the resources of a language, and the code using its key."""

import html
import json
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.search.contents.reading import Read, line_at, read_best
from cqm.index.store.base import PointFilter
from cqm.index.text.exact_words import is_asking, is_caption, is_spelled_as_name
from cqm.index.text.terms import name_term, query_terms

_MOST_CHUNKS, _MOST_USERS = 60, 400
_MOST_TEXTS, _MOST_USES, _MOST_KEYS = 3, 7, 3
_SHORTEST, _LONGEST = 4, 300
_LONGEST_BEFORE = 400
"""Characters before a text to search for its key."""
_LANGUAGES = (
    *("json", "yaml", "xml", "properties", "php", "text", "template", "javascript", "typescript", "toml"),
    "ini",
)
_OF_TEXTS = re.compile(
    r"(?:^|/)(?:lang(?:uages?)?|locales?|locali[sz]ations?|i18n|l10n|translations?|translators?|messages?|strings|po|values)"
    r"(?:[/_.-]|$)|\.(?:po|pot|ftl|strings|xliff|xlf|arb|resx|properties|lang)$|/values[\w-]*/|dictionary",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"(?:^|[/_.-])en(?:[_-]?(?:us|gb))?(?:[/_.-]|$)|/values/", re.IGNORECASE)
_ASKED = re.compile(
    r"(?:(?:find |show )?(?:the |which |what )?"
    r"(?:code|component|file|screen|page|view|place|class|function|line)s? (?:that |which )?"
    r"(?:shows?|displays?|prints?|uses?|renders?|says?|raises?|emits?)"
    r"|where (?:is|does|do)(?: we)?(?: show| use| display)?)"
    r"(?: the)?(?: error)?(?: (?:text|message|label|string|error))? "
    r"(?P<open>[\"“„«'`「])(?P<text>[^\n]{2,300})[\"”“»'`」]"
    r"(?: (?:shown|displayed|used|printed|from|coming from|come from|set|raised))?\??",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«'`「](?P<text>[^\"\n]{2,300})[\"”“»'`」]")
_KEY = re.compile(
    r"(?:name|id|key|resname)=[\"'](?P<attribute>[\w.:/ -]{1,160})[\"'][^<>]*>"
    r"(?:\s*<(?:value|source|target|!\[CDATA\[)[^<>]*>?)?\"?$"
    r"|[\"'](?P<quoted>[\w.:/ -]{1,160})[\"']\]?\s*(?:=>|[:=])\s*[\"'`]?$"
    r"|^[ \t]*(?:(?:export )?(?:const|let) )?(?P<bare>[\w.-]{1,160})[ \t]*[:=][ \t]*[\"'`]?$"
    r"|^msgid \"(?P<msgid>[^\n]{1,300})\"\n(?:msgid_plural [^\n]{1,300}\n)?msgstr(?:\[\d\])? \"$",
    re.MULTILINE,
)
_ENTRY = re.compile(
    r"(?:#[^\n]*\n){0,40}(?:msgctxt \"[^\n]*\n)?"
    r"msgid (?P<id>\"[^\n]*\"(?:\n\"[^\n]*\"){0,20})\s*(?:\nmsgstr|\nmsgid_plural|$)"
)
"""An entry of a catalog of gettext."""
_STRING = re.compile(r"\"([^\n]*)\"")
_LONGEST_ENTRY = 4_000
_ABOVE = re.compile(r"^([ \t]*)[\"']?([\w.-]+)[\"']?[ \t]*(?:=>|[:=])[ \t]*(?:[{\[(]|array\(|$)", re.MULTILINE)
_PART = re.compile(r"[\w-]+")


class _Text(NamedTuple):
    """A text in a resource.

    Attributes:
        key: as the resource writes it.
        around: names of its enclosing keys.
    """

    read: Read
    line: int
    key: str
    around: AbstractSet[str]


class _Use(NamedTuple):
    """A line using a key; the most certain sorts first."""

    rank: tuple[bool, bool, int]
    path: str
    line: int
    id: str


def resource_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines with a text of an application's resources, and those using its key, by id of their chunk.

        "Datei existiert bereits", "the code that shows "File already exists""

    The text comes first if the question is only the text; the code showing it, if that is asked for. Empty if no
    resource has a key for exactly this text.
    """
    text = text.strip()
    if not _SHORTEST <= len(text) <= _LONGEST or "\n" in text:
        return {}
    asked = _ASKED.fullmatch(text)
    quoted = asked or _QUOTED.fullmatch(text)
    said = quoted["text"].strip() if quoted else text
    if not (quoted or _may_be_shown(said)):
        return {}
    texts = sorted(_texts(generation, said), key=_rank)
    uses = _uses(generation, texts)
    own = {it.read.chunk.id: it.line for it in texts[: 1 if uses and not asked else _MOST_TEXTS]}
    return (uses | own) if asked else {**own, **{name: line for name, line in uses.items() if name not in own}}


def catalog_lines(generation: Generation, text: str) -> dict[str, int]:
    r"""Return the lines of the code that shows a message of a catalog, by id of their chunk.

        'msgid "New products"\nmsgstr "Neue Produkte"'

    Parameters:
        generation: to search.
        text: of the question: an entry of a catalog, maybe with its comments.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    found = _ENTRY.match(text.strip()) if "msgid" in text and len(text) <= _LONGEST_ENTRY else None
    key = "".join(_STRING.findall(found["id"])) if found else ""
    if not key:
        return {}
    plain = key.replace('\\"', '"').replace("\\n", "\n").strip()
    return _first_lines([*_uses_of(generation, plain, frozenset())])


def _may_be_shown(text: str) -> bool:
    """Whether an application may show a text: a caption, a sentence, or words of another script."""
    return is_caption(text) or not text.isascii() or (text[:1].isupper() and text[-1:] in ".!?" and not is_asking(text))


def _rank(text: _Text) -> tuple[bool, bool, str, int]:
    chunk = text.read.chunk
    return chunk.role is not None, _ENGLISH.search(chunk.path) is None, chunk.path, text.line


def _texts(generation: Generation, said: str) -> Iterator[_Text]:
    """Yield the places where a resource has just this text, each with its key."""
    forms = [*dict.fromkeys((said, *_escaped(said)))]
    value = re.compile(rf"(?<=[\"'`>=:\s])(?:{'|'.join(map(re.escape, forms))})(?=[\"'`<]|\]\]>|\s*$)", re.MULTILINE)
    for read in read_best(generation, query_terms(said), _MOST_CHUNKS, PointFilter(languages=_LANGUAGES)):
        if not _OF_TEXTS.search(read.chunk.path):
            continue
        for found in value.finditer(read.text):
            key = _key_before(read.text, found.start())
            if key:
                yield _Text(read, line_at(read, found.start()), key, _around(read, found.start()))
                break


def _escaped(said: str) -> Iterator[str]:
    """Yield a text as the formats of resources write it."""
    yield html.escape(said, quote=False)
    yield said.replace("'", "\\'").replace('"', '\\"')
    yield said.replace("'", "\\'")
    yield said.replace("'", "''")
    yield json.dumps(said)[1:-1]
    yield json.dumps(said, ensure_ascii=False)[1:-1]


def _key_before(text: str, at: int) -> str:
    before = text[max(0, at - _LONGEST_BEFORE) : at]
    # The nearest key: one of a line above belongs to another text, but for elements of XML and catalogs.
    keys = [*_KEY.finditer(before)]
    return next((it for it in keys[-1].groups() if it), "") if keys else ""


def _around(read: Read, at: int) -> frozenset[str]:
    """Return the names enclosing a text: the keys above it, and those of the chunk."""
    line = read.text.rfind("\n", 0, at) + 1
    indent = len(read.text[line:at]) - len(read.text[line:at].lstrip())
    names = set[str]()
    for above in reversed([*_ABOVE.finditer(read.text, 0, line)]):
        if len(above[1]) < indent:
            indent = len(above[1])
            names.update(_PART.findall(above[2]))
    # A chunk from the middle of a file is named after its enclosing keys.
    return frozenset(names if read.chunk.start_line == 1 else {*names, *_PART.findall(read.chunk.symbol)})


def _uses(generation: Generation, texts: Sequence[_Text]) -> dict[str, int]:
    """Return the lines of programs and layouts using the keys of some texts, by id of their chunk."""
    keys = {it.key: it for it in reversed(texts) if it.read.chunk.role is None} or {it.key: it for it in texts}
    lines: list[_Use] = []
    for text in [*reversed(keys.values())][:_MOST_KEYS]:
        lines += _uses_of(generation, text.key, text.around)
    return _first_lines(lines)


def _first_lines(lines: Sequence[_Use]) -> dict[str, int]:
    uses: dict[str, int] = {}
    for use in sorted(lines):
        uses.setdefault(use.id, use.line)
    return dict([*uses.items()][:_MOST_USES])


def _uses_of(generation: Generation, key: str, enclosing: AbstractSet[str]) -> Iterator[_Use]:
    own = re.escape(key)
    last = re.escape(key.rpartition(".")[2]) if not enclosing else own
    form = re.compile(
        rf"\bR\.string\.{own}\b|@string/{own}\b|[\"'`>](?P<above>(?:[\w-]{{1,60}}[.:/]){{0,6}}){own}[\"'`<]"
        rf"|\b(?:strings?|messages?|texts?|tr|l10n|i18n|lang|labels?|Resources?|Strings)\.{last}\b"
    )
    words = name_term(key) if key.isidentifier() and is_spelled_as_name(key) else query_terms(key)
    for read in read_best(generation, words, _MOST_USERS):
        chunk = read.chunk
        if not _may_use(chunk) or (key not in read.text):
            continue
        best = min((_fit(enclosing, it, it.start()) for it in form.finditer(read.text)), default=None)
        if best and best[0] < _UNFIT:
            yield _Use((_is_aside(chunk), chunk.is_generated, best[0]), chunk.path, line_at(read, best[1]), chunk.id)


def _is_aside(chunk: Candidate) -> bool:
    return chunk.role is not None or _MIGRATION.search(chunk.path) is not None


_MIGRATION = re.compile(r"(?:^|/)migrations?/")
_UNFIT = 9


def _fit(enclosing: AbstractSet[str], found: re.Match[str], at: int) -> tuple[int, int]:
    """Return how surely a use is of a key, 0 for surest, and where it stands."""
    above = _PART.findall(found["above"] or "")
    if not above:
        # A nested key is asked for by its path; a plain word in quotes may be anything.
        return (3 if enclosing else 0) + (found["above"] is not None), at
    return (0 if {*above} <= enclosing else _UNFIT if enclosing else 2), at


def _may_use(chunk: Candidate) -> bool:
    is_code = source_type_of(chunk.language) == CODE or chunk.language in {"xml", "html", "template", "vue", "svelte"}
    return is_code and _OF_TEXTS.search(chunk.path) is None

"""Read a question for a relation to a name: who implements, calls, tests, renders or provides it."""

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from cqm.index.text.exact_words import is_spelled_as_name
from cqm.index.text.relations.foreign import as_english


class Relation(Enum):
    """A relation a question may ask for."""

    IMPLEMENTS = auto()
    OVERRIDES = auto()
    TESTS = auto()
    RENDERS = auto()
    PROVIDES = auto()
    VALUE = auto()
    READS = auto()
    MIGRATES = auto()
    STYLES = auto()
    TRANSLATES = auto()
    SHOWS = auto()
    RUNS = auto()
    NOTIFIES = auto()
    NUMBERED = auto()
    USES = auto()
    ANNOTATES = auto()


class AskedRelation(NamedTuple):
    """A relation to a name.

    Attributes:
        relation: asked for.
        name: as it is written, without marks around it.
        of: a further name: the table of a column, the tool of a command, "listen" or "emit" of an event; else empty.
        is_bare: whether the question is the name alone.
        is_name: whether the name can be no other word.
    """

    relation: Relation
    name: str
    of: str = ""
    is_bare: bool = False
    is_name: bool = False


_SHORTEST, _LONGEST = 3, 200
_NAME = (
    r"(?P<marks>[`'\"@.<#\[]{0,3})(?P<name>(?!https?:)[\w$](?:[\w$.:#\\/-]{0,120}[\w$?!])?)"
    r"(?P<called>(?:\(\))?[`'\">\])]{0,3})"
)
_WORD_AFTER = r"(?: (?:class(?:es)?|interface|trait|protocol|method|function|component|template|annotation|decorator))?"
_KIND = r"(?:the )?(?:(?:abstract )?(?:class|interface|trait|protocol|type|method|function|struct) )?"
_SYMBOL = f"{_KIND}{_NAME}{_WORD_AFTER}"
_RPC = rf"(?:the )?(?:(?:rpc|grpc|method|function|endpoint|interface) ){{0,3}}{_NAME}{_WORD_AFTER}"
_THINGS = r"(?:classes|types|places|code|files|functions|modules|components|things)"
_WHO = rf"(?:who|(?:which|what)(?: \w{{2,20}}){{0,2}}|(?:all |the )?(?:\w{{2,20}} )?{_THINGS} (?:that|which))"
_WHERE = (
    r"where (?:is|are|was|were|do(?:es)? (?:we|it|they|the (?:app|code|project|program))"
    r"|(?:we|it|they|the (?:app|code|project|program))(?= \w{2,20} ))"
)
_SUBCLASSES = (
    r"(?:sub(?:classes|types)|implement(?:ations|ers|ors)|inheritors|descendants|child classes|children"
    r"|(?:derived|implementing) classes|conform(?:ances|ers))"
)
_EXTENDS = r"(?:directly )?(?:implements?|extends?|(?:inherits?|derives?)(?: from)?|subclass(?:es)?|conforms? to)"
_TESTS = r"(?:(?:all|the|unit|integration|functional|existing) ){0,3}(?:tests?|specs?|test cases?)"
_VIEW = r"(?:templates?|views?|components?|pages?|partials?|layouts?|screens?)"
_RENDERS = r"(?:includes?|extends?|renders?|uses?|embeds?)"
_ENV = (
    r"(?:env(?:ironment)?[ -]?(?:var(?:iable)?)?|setting|config(?:uration)?(?: (?:key|option|value|setting|property))?"
    r"|option|feature flag|property)"
)
_COLUMN = rf"(?:the )?(?:new )?(?:(?:column|field) )?{_NAME}(?: (?:column|field))?"
_TABLE = r"(?:the )?(?:table |model )?[`'\"]?(?P<of>\w{2,80})[`'\"]?(?: table| model)?"
_ADDS = r"(?:add(?:s|ed|ing)?|creat(?:es?|ed)|introduc(?:es?|ed))"
_TEXT = r"(?:i18n|translations?|locali[sz]ations?|locale|lang(?:uage)?|string resource|text)"
_TOOLS = (
    r"(?P<of>(?:npm|yarn|pnpm|bun|composer)(?: run)?|make(?: target)?|rake(?: task)?|just"
    r"|(?:php )?artisan(?: command)?|(?:python3? )?(?:\./)?manage\.py|management command)"
)
_EVENT = r"(?:the )?(?P<event>event|signal|topic|message|queue|job|hook) "
_TELLS = r"(?:(?:emitt|handl|fir|dispatch|publish|rais|trigger|consum|receiv)ed|sent|subscribed to|listened (?:to|for))"
_LISTENS = r"(?:listens? (?:to|for)|subscribes? to|emits|publishes|dispatches|fires|handles|raises|consumes)"
_LISTENERS = r"(?:event )?(?:handler|listener|subscriber|emitter|publisher|consumer)s?"
_USERS = r"(?:callers?|usages?|uses|call ?sites?|references|invocations)"
_PROVIDED = r"(?:registered|bound|provided|wired|injected)"
_INJECTION = r"(?:DI|IoC|dependency injection)"
_TAKEN = r"(?:read|loaded|parsed|checked|consumed|looked up|taken)"
_STRING = r"(?:string|key|text|translation)(?: key| resource)?"
_STATUS = r"(?:error|exit|status|return|errno|result)"
_USED = r"(?:call|us|invok|instantiat|referenc|construct)"

_FORMS = (
    (Relation.IMPLEMENTS, rf"{_WHO} {_EXTENDS} {_SYMBOL}"),
    (Relation.IMPLEMENTS, rf"(?:(?:all|the|direct|known|list) ){{0,3}}{_SUBCLASSES} (?:of|to) {_SYMBOL}"),
    (Relation.OVERRIDES, rf"(?:the )?(?:overrides|overriding methods|(?:server )?implementation) of {_RPC}"),
    (Relation.OVERRIDES, rf"{_WHO} (?:overrides?|implements?) {_RPC}"),
    (Relation.OVERRIDES, rf"{_WHERE} {_RPC} (?:implemented|overridden)"),
    (Relation.TESTS, rf"{_TESTS} (?:of|for|covering|that (?:cover|test|use|exercise)) {_SYMBOL}"),
    (Relation.TESTS, rf"(?:which|what) {_TESTS} (?:covers?|tests?|exercises?|checks?|uses?) {_SYMBOL}"),
    (Relation.TESTS, rf"(?:where|how) (?:is|are) {_SYMBOL} (?:unit )?tested"),
    (Relation.RENDERS, rf"(?:which|what) {_VIEW} {_RENDERS} (?:the )?(?:{_VIEW} )?{_NAME}"),
    (Relation.RENDERS, rf"{_VIEW} (?:that|which) {_RENDERS} (?:the )?(?:{_VIEW} )?{_NAME}"),
    (Relation.RENDERS, rf"{_WHERE} (?:the )?(?:{_VIEW} )?{_NAME}(?: {_VIEW})? (?:render|includ|embedd|mount)ed"),
    (
        Relation.PROVIDES,
        rf"{_WHERE} {_KIND}{_NAME} {_PROVIDED}(?: (?:for|in|with|to|as|into) .{{1,60}})?",
    ),
    (
        Relation.PROVIDES,
        rf"(?:who|what|which (?:module|provider|class)) (?:provides|binds|registers) {_KIND}{_NAME}",
    ),
    (
        Relation.PROVIDES,
        rf"(?:the )?(?:{_INJECTION} )?(?:binding|provider|registration)s? (?:of|for) {_KIND}{_NAME}",
    ),
    (
        Relation.VALUE,
        rf"(?:what(?:'s| is| are) )?(?:the )?(?:default )?values? (?:of|for) (?:the constant )?{_NAME}",
    ),
    (Relation.VALUE, rf"what (?:is|does) {_NAME} (?:set to|equal|default to|stand for)"),
    (Relation.VALUE, rf"(?:what(?:'s| is) )?(?:the )?default (?:of|for) {_NAME}"),
    (
        Relation.READS,
        rf"{_WHERE} (?:the )?(?:{_ENV} )?{_NAME}(?: {_ENV})? {_TAKEN}",
    ),
    (Relation.READS, rf"{_WHERE} (?:the )?{_ENV} {_NAME} (?:used|handled|evaluated|defined|set)"),
    (
        Relation.READS,
        rf"(?:who|what|which (?:code|file|module)) (?:reads|loads|checks|consumes) (?:the )?(?:{_ENV} )?{_NAME}",
    ),
    (Relation.READS, rf"(?:the )?env(?:ironment)? var(?:iable)? {_NAME}"),
    (
        Relation.MIGRATES,
        rf"(?:(?:the|which|what) )?migrations? (?:(?:that|which) )?{_ADDS} {_COLUMN} (?:to|on|in|of) {_TABLE}",
    ),
    (
        Relation.MIGRATES,
        rf"(?:when|where) (?:was|is) {_COLUMN} (?:added|introduced|created) (?:to|on|in) {_TABLE}",
    ),
    (Relation.MIGRATES, rf"(?:the )?(?:(?:db|database|sql) )?column {_NAME} (?:of|in|on) {_TABLE}"),
    (Relation.MIGRATES, rf"add_column[ (]+[:'\"]?(?P<of>\w{{2,80}})['\"]?,? +:?{_NAME}"),
    (
        Relation.STYLES,
        rf"(?:the )?(?:s?css|style)(?: class| rule| selector)?s? (?:(?:of|for) )?(?:the )?(?:class )?{_NAME}",
    ),
    (Relation.STYLES, rf"{_WHERE} (?:the )?(?:(?:css )?class |selector )?{_NAME} styled"),
    (
        Relation.TRANSLATES,
        rf"(?:the )?{_TEXT}(?: (?:keys?|strings?|id)| of| for| of key)? {_NAME}",
    ),
    (
        Relation.TRANSLATES,
        rf"{_WHERE} (?:the )?(?:i18n |translation )?(?:string|key|message|text) {_NAME} (?:defined|translated)",
    ),
    (
        Relation.SHOWS,
        rf"{_WHERE} (?:the )?(?:i18n |translation |localization )?{_STRING} {_NAME} (?:used|shown|displayed)",
    ),
    (Relation.RUNS, rf"(?:what does )?[`'\"]?{_TOOLS} {_NAME}(?: --?\w.{{0,80}})?(?: do)?"),
    (Relation.NOTIFIES, rf"{_WHERE} {_EVENT}{_NAME} {_TELLS}(?: (?:or|and) {_TELLS})?"),
    (
        Relation.NOTIFIES,
        rf"{_WHERE} (?:the )?{_NAME} (?P<event>event|signal|message) {_TELLS}(?: (?:or|and) {_TELLS})?",
    ),
    (Relation.NOTIFIES, rf"{_WHO} {_LISTENS} (?:{_EVENT})?{_NAME}(?: event| signal)?"),
    (Relation.NOTIFIES, rf"(?:the )?{_LISTENERS} (?:of|for) (?:{_EVENT})?{_NAME}(?: event| signal)?"),
    (
        Relation.NUMBERED,
        rf"(?:\w{{1,40}} ){{0,3}}{_STATUS}(?: (?:code|number|value|status))?:? (?P<name>-?\d{{1,6}})",
    ),
    (Relation.USES, rf"{_WHO} (?:{_USED}(?:e?s)?|uses?) {_SYMBOL}"),
    (
        Relation.USES,
        rf"(?:(?:all|the|list) ){{0,2}}{_USERS} (?:of|to) {_SYMBOL}",
    ),
    (Relation.USES, rf"{_WHERE} {_SYMBOL} (?:being )?{_USED}ed(?: from)?"),
    (Relation.USES, rf"{_WHERE} {_USED}(?:e|ing)? {_SYMBOL}"),
)
"""The first form matching the whole question counts."""
_ASKS = re.compile(
    r"(?:who|whats?|which|where|when|how|all|the|list|direct|known|sub|implement|inheritors|descendants|child|derived"
    r"|conform|column|db|database|sql|overrid|server|unit|integration|functional|existing|tests?\b|specs?\b|template|view|component|page|partial"
    r"|layout|screen|DI\b|IoC|dependency|binding|provider|registration|default|value|env|migration|add_column|s?css"
    r"|style|i18n|translation|locali|locale|lang|string|text|npm|yarn|pnpm|bun|composer|make|rake|just|php|artisan"
    r"|python3?|\./|manage|event|handler|listener|subscriber|emitter|publisher|consumer|call|usage|uses|references"
    r"|invocations|classes|types|places|code|files|functions|modules|things|\w+ classes|.{0,120}(?:error|exit|status|"
    r"return|errno|result)\b[ :\w]{1,12}-?\d)",
    re.IGNORECASE,
)
"""The beginnings of such questions."""
_PLEASE = re.compile(r"(?:please |(?:can|could) you |find |show |list |give |tell |me |us ){1,5}", re.IGNORECASE)
_OF_NPM = re.compile(r"^> [\w@/.-]{1,80}@\d[\w.-]{0,30} (?=\S)")
"""The line npm writes before it runs a script."""
_EMITS = re.compile(r"\b(?:emit|publish|dispatch|fire|rais|sent|trigger)", re.IGNORECASE)
_HEARS = re.compile(r"\b(?:listen|subscri|handle|consum|receiv)", re.IGNORECASE)
_ANNOTATION = re.compile(r"@(?P<name>[A-Za-z][\w.]{2,80})")
_BARE_ENV = re.compile(r"[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,8}")
_BARE_STYLE = re.compile(r"\.(?P<name>[a-z]\w*(?:-\w+)+)")
_BARE_COMMAND = re.compile(r"[a-z][\w-]{1,30}(?::[a-z][\w-]{1,40}){1,3}")
_EXPLICIT = frozenset({
    *(Relation.MIGRATES, Relation.STYLES, Relation.TRANSLATES, Relation.SHOWS, Relation.RUNS, Relation.NUMBERED),
})  # fmt: skip
"""Relations for names only: "what uses memory" asks for no name, "make lint" does."""
_NAMED = re.compile(rf"\b(?:key|column|class|selector|field)s? |\b{_TOOLS} ", re.IGNORECASE)
"""Words before a name, even a plain word: "translation key thousand", not "text wrapping"."""
_CALLS = re.compile(r"\b(?:call|invo)", re.IGNORECASE)
_SIGN = re.compile(r"[./:_-]")


def relation_in(text: str) -> AskedRelation | None:
    """Return the relation asked for in a question; None for other questions.

    "which classes implement Handler", "where is DB_HOST read?", "tests of parse_args", "make lint", "@Inject"
    """
    text = text.strip()
    if not _SHORTEST <= len(text) <= _LONGEST or "\n" in text:
        return None
    if " " not in text and text.isascii():
        return _bare(text.strip("`"))
    please = _PLEASE.match(text)
    plain = text[please.end() if please else 0 :].rstrip("?. ").strip("` ")
    plain = as_english(text) or _OF_NPM.sub("npm run ", plain, count=1)
    if not _ASKS.match(plain):
        return None
    for relation, form in _forms():
        found = form.fullmatch(plain)
        if found and (asked := _asked(relation, found)):
            return asked
    return None


@cache
def _forms() -> Sequence[tuple[Relation, re.Pattern[str]]]:
    # Their compilation takes 13 ms, and few questions are of them.
    return [(relation, re.compile(form, re.IGNORECASE)) for relation, form in _FORMS]


def _bare(text: str) -> AskedRelation | None:
    """Return the relation asked for by a name alone: users of an annotation, readers of a variable, a rule of style."""
    if found := _ANNOTATION.fullmatch(text):
        return AskedRelation(Relation.ANNOTATES, found["name"], is_bare=True)
    if _BARE_ENV.fullmatch(text):
        return AskedRelation(Relation.READS, text, is_bare=True)
    if found := _BARE_STYLE.fullmatch(text):
        return AskedRelation(Relation.STYLES, found["name"], is_bare=True)
    return AskedRelation(Relation.RUNS, text, is_bare=True) if _BARE_COMMAND.fullmatch(text) else None


def _asked(relation: Relation, found: re.Match[str]) -> AskedRelation | None:
    groups = found.groupdict()
    name, marks, of = groups["name"], groups.get("marks") or "", (groups.get("of") or "").lower()
    if relation is Relation.USES and "@" in marks:
        relation = Relation.ANNOTATES
    if relation is Relation.NOTIFIES:
        asked = found[0].replace(name, " ")
        of = {(True, False): "emit", (False, True): "listen"}.get(
            (bool(_EMITS.search(asked)), bool(_HEARS.search(asked))), ""
        )
    is_marked = bool(marks or groups.get("called") or groups.get("event"))
    is_name = is_marked or is_spelled_as_name(name) or name[:1].isupper() or _SIGN.search(name) is not None
    is_named = relation in {Relation.NUMBERED, Relation.MIGRATES} or _NAMED.search(found[0]) is not None
    # "who calls unindent" asks for a name if something defines it.
    is_code = relation is Relation.TESTS or (relation is Relation.USES and _CALLS.search(found[0]) is not None)
    is_asked = is_name or is_code or (is_named and relation in _EXPLICIT)
    return (
        AskedRelation(relation, name, of, is_name=is_name and relation is not Relation.NUMBERED) if is_asked else None
    )

"""Read a question that asks who has a relation to a name: who implements, calls, tests, renders or provides it."""

import re
from enum import Enum, auto
from typing import NamedTuple

from cqm.index.text.exact_words import is_spelled_as_name


class Relation(Enum):
    """A relation that a question may ask for."""

    IMPLEMENTS = auto()
    OVERRIDES = auto()
    USES = auto()
    TESTS = auto()
    ANNOTATES = auto()
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


class AskedRelation(NamedTuple):
    """A relation to a name.

    Attributes:
        relation: asked for.
        name: as it is written, without marks around it.
        of: a further name: the table of a column, the tool of a command; else empty.
        is_surely: whether the question has no other meaning, so that finding nothing is worth a note.
    """

    relation: Relation
    name: str
    of: str = ""
    is_surely: bool = False


_LONGEST = 200
_NAME = r"(?P<marks>[`'\"@.<#\[]{0,3})(?P<name>[\w$](?:[\w$.:#\\/-]{0,120}[\w$?!])?)(?P<called>(?:\(\))?[`'\">\])]{0,3})"
_NUMBER = r"(?P<name>-?\d{1,6})"
_WHO = r"(?:who|what|(?:which|what)(?: \w{2,20}){1,2}|(?:all |the )?(?:\w{2,20} )?(?:classes|types|places|code|files|functions|modules|components|things) (?:that|which))"
_WHERE = r"where (?:is|are|was|were|do(?:es)? (?:we|it|they|the (?:app|code|project|program)))"
_OF = r"(?: class(?:es)?| interface| trait| protocol| method| function| component| template| annotation| decorator)?"
_KIND = r"(?:the )?(?:(?:class|interface|trait|protocol|abstract class|type|method|function|struct) )?"
_ENV = r"(?:env(?:ironment)?[ -]?(?:var(?:iable)?)?|env|setting|config(?:uration)?(?: key| option| value| setting| property)?|option|feature flag|property)"
_TESTS = r"(?:(?:all|the|unit|integration|functional|existing) )*(?:tests?|specs?|test cases?)"
_VIEWS = r"(?:templates?|views?|components?|pages?|partials?|layouts?|screens?)"
_EVENT = r"(?:the )?(?:(?P<event>event|signal|topic|message|queue|job|hook) )"
_TELLS = r"(?:emitt?(?:s|ed)?|handle[sd]?|fire[sd]?|dispatch(?:e[sd])?|publish(?:e[sd])?|raise[sd]?|sen(?:ds|t)|trigger(?:s|ed)?|consume[sd]?|received?|subscribed to|listened (?:to|for))"
_TOOLS = (
    r"(?P<of>npm(?: run)?|yarn(?: run)?|pnpm(?: run)?|bun run|composer(?: run)?|make(?: target)?|rake(?: task)?|just"
    r"|(?:php )?artisan(?: command)?|(?:python3? )?(?:\./)?manage\.py|management command)"
)
_SUBCLASSES = (
    r"(?:subclasses|subtypes|implementations|implementers|implementors|inheritors|descendants|child classes|children"
    r"|derived classes|conformances|conformers|implementing classes)"
)

_FORMS: tuple[tuple[Relation, bool, re.Pattern[str]], ...] = tuple(
    (relation, is_surely, re.compile(form, re.IGNORECASE))
    for relation, is_surely, form in (
        (
            Relation.IMPLEMENTS,
            True,
            rf"{_WHO} (?:directly )?(?:implements?|extends?|inherits?(?: from)?|derives? from|subclass(?:es)?|conforms? to) {_KIND}{_NAME}{_OF}",
        ),
        (Relation.IMPLEMENTS, True, rf"(?:(?:all|the|direct|known|list) )*{_SUBCLASSES} (?:of|to) {_KIND}{_NAME}{_OF}"),
        (
            Relation.OVERRIDES,
            False,
            rf"(?:the )?(?:(?:all )?overrides|overriding methods|(?:server )?implementation) of (?:the )?(?:(?:rpc|grpc|method|function|endpoint) )*{_NAME}{_OF}",
        ),
        (
            Relation.OVERRIDES,
            False,
            rf"{_WHO} (?:overrides?|implements?) (?:the )?(?:(?:rpc|grpc|method|function) )*{_NAME}{_OF}",
        ),
        (
            Relation.OVERRIDES,
            False,
            rf"{_WHERE} (?:the )?(?:(?:rpc|grpc|method|function|interface) )*{_NAME}{_OF} (?:implemented|overridden)",
        ),
        (Relation.TESTS, True, rf"{_TESTS} (?:of|for|covering|that (?:cover|test|use|exercise)) {_KIND}{_NAME}{_OF}"),
        (Relation.TESTS, True, rf"(?:which|what) {_TESTS} (?:covers?|tests?|exercises?|checks?|uses?) {_KIND}{_NAME}{_OF}"),
        (Relation.TESTS, True, rf"(?:where|how) (?:is|are) {_KIND}{_NAME}{_OF} (?:unit )?tested"),
        (Relation.RENDERS, True, rf"(?:which|what) {_VIEWS} (?:includes?|extends?|renders?|uses?|embeds?) (?:the )?(?:{_VIEWS} )?{_NAME}"),
        (Relation.RENDERS, True, rf"{_VIEWS} (?:that|which) (?:includes?|extends?|renders?|uses?|embeds?) (?:the )?(?:{_VIEWS} )?{_NAME}"),
        (Relation.RENDERS, True, rf"{_WHERE} (?:the )?(?:{_VIEWS} )?{_NAME}(?: {_VIEWS})? (?:rendered|included|embedded|mounted)"),
        (
            Relation.PROVIDES,
            False,
            rf"{_WHERE} {_KIND}{_NAME} (?:registered|bound|provided|wired|injected)(?: (?:for|in|with|to|as|into) .{{1,60}})?",
        ),
        (Relation.PROVIDES, False, rf"(?:who|what|which (?:module|provider|class)) (?:provides|binds|registers) {_KIND}{_NAME}"),
        (Relation.PROVIDES, False, rf"(?:the )?(?:DI |IoC |dependency injection )?(?:binding|provider|registration)s? (?:of|for) {_KIND}{_NAME}"),
        (Relation.VALUE, False, rf"(?:what(?:'s| is| are) )?(?:the )?(?:default )?values? (?:of|for) (?:the )?(?:constant )?{_NAME}"),
        (Relation.VALUE, False, rf"what (?:is|does) {_NAME} (?:set to|equal|default to|stand for)"),
        (Relation.VALUE, False, rf"(?:what(?:'s| is) )?(?:the )?default (?:of|for) {_NAME}"),
        (
            Relation.READS,
            False,
            rf"{_WHERE} (?:the )?(?:{_ENV} )?{_NAME}(?: {_ENV})? (?:read|loaded|parsed|checked|consumed|looked up|taken)",
        ),
        (Relation.READS, False, rf"{_WHERE} (?:the )?{_ENV} {_NAME} (?:used|handled|evaluated|defined|set)"),
        (Relation.READS, False, rf"(?:who|what|which (?:code|file|module)) (?:reads|loads|checks|consumes) (?:the )?(?:{_ENV} )?{_NAME}"),
        (Relation.READS, False, rf"(?:the )?env(?:ironment)? var(?:iable)? {_NAME}"),
        (
            Relation.MIGRATES,
            False,
            r"(?:(?:the|which|what) )?migrations? (?:(?:that|which) )?(?:adds?|added|adding|creat(?:es?|ed)|introduc(?:es?|ed)|for) (?:the )?"
            rf"(?:(?:new )?(?:column|field) )?{_NAME}(?: (?:column|field))? (?:to|on|in|of) (?:the )?(?:table |model )?[`'\"]?(?P<of>\w{{2,80}})[`'\"]?(?: table| model)?",
        ),
        (
            Relation.MIGRATES,
            False,
            rf"(?:when|where) (?:was|is) (?:the )?(?:(?:column|field) )?{_NAME}(?: (?:column|field))? (?:added|introduced|created) (?:to|on|in) (?:the )?(?:table |model )?"
            r"[`'\"]?(?P<of>\w{2,80})[`'\"]?(?: table| model)?",
        ),
        (Relation.MIGRATES, False, rf"add_column[ (]+[:'\"]?(?P<of>\w{{2,80}})['\"]?,? +:?{_NAME}"),
        (Relation.STYLES, False, rf"(?:the )?(?:s?css|style)(?: class| rule| selector)?s? (?:(?:of|for) )?(?:the )?(?:class )?{_NAME}"),
        (Relation.STYLES, False, rf"(?:the )?styles? (?:of|for) (?=[`'\"]?\.){_NAME}"),
        (Relation.STYLES, False, rf"{_WHERE} (?:the )?(?:(?:css )?class |selector )?{_NAME} (?:styled)"),
        (
            Relation.TRANSLATES,
            False,
            rf"(?:the )?(?:i18n|translations?|locali[sz]ations?|locale|lang(?:uage)?|string resource|text)(?: (?:keys?|strings?|id)| of| for| of key)? {_NAME}",
        ),
        (Relation.TRANSLATES, False, rf"{_WHERE} (?:the )?(?:i18n |translation )?(?:string|key|message|text) {_NAME} (?:defined|translated)"),
        (Relation.SHOWS, False, rf"{_WHERE} (?:the )?(?:i18n |translation |localization )?(?:string|key|text|translation)(?: key| resource)? {_NAME} (?:used|shown|displayed)"),
        (Relation.RUNS, False, rf"(?:what does )?[`'\"]?{_TOOLS} {_NAME}(?: --?\w.{{0,80}})?(?: do)?"),
        (Relation.NOTIFIES, False, rf"{_WHERE} {_EVENT}{_NAME} {_TELLS}(?: (?:or|and) {_TELLS})?"),
        (Relation.NOTIFIES, False, rf"{_WHERE} (?:the )?{_NAME} (?P<event>event|signal|message) {_TELLS}(?: (?:or|and) {_TELLS})?"),
        (
            Relation.NOTIFIES,
            False,
            rf"{_WHO} (?:listens? (?:to|for)|subscribes? to|emits|publishes|dispatches|fires|handles|raises|consumes) {_EVENT}?{_NAME}(?: event| signal)?",
        ),
        (
            Relation.NOTIFIES,
            False,
            rf"(?:the )?(?:event )?(?:handlers?|listeners?|subscribers?|emitters?|publishers?|consumers?) (?:of|for) {_EVENT}?{_NAME}(?: event| signal)?",
        ),
        (Relation.NUMBERED, False, rf"(?:\w{{1,40}} ){{0,3}}(?:error|exit|status|return|errno|result)(?: code| number| value| status)?:? {_NUMBER}"),
        (
            Relation.USES,
            True,
            rf"{_WHO} (?:calls?|uses?|invokes?|instantiates?|constructs?|references?) {_KIND}{_NAME}{_OF}",
        ),
        (Relation.USES, True, rf"(?:(?:all|the|list) )*(?:callers?|usages?|uses|call ?sites?|references|invocations) (?:of|to) {_KIND}{_NAME}{_OF}"),
        (
            Relation.USES,
            True,
            rf"{_WHERE} {_KIND}(?:call(?:ing)? |us(?:e|ing) |invok(?:e|ing) |instantiat(?:e|ing) )?{_NAME}{_OF}(?: (?:being )?(?:called|used|invoked|instantiated|referenced|constructed)(?: from)?)?",
        ),
    )
)
"""The first that is all of the question counts."""
_ASKS = re.compile(
    r"\b(?:who|what|whats|which|where|when|how|all|the|list|direct|known|subclasses|subtypes|implement\w*|inheritors|descendants"
    r"|child\w*|derived|conform\w*|overrid\w*|server|unit|integration|functional|existing|tests?|specs?|templates?|views?|components?|pages?"
    r"|partials?|layouts?|screens?|DI|IoC|dependency|bindings?|providers?|registrations?|default|values?|env\w*|migrations?|add_column|s?css"
    r"|styles?|i18n|translations?|locali\w+|locale|lang\w*|string|text|npm|yarn|pnpm|bun|composer|make|rake|just|php|artisan|python3?"
    r"|manage|management|event|handlers?|listeners?|subscribers?|emitters?|publishers?|consumers?|error|exit|status|return|errno|result"
    r"|callers?|usages?|uses|call|calls|callsites?|references|invocations|classes|types|code)\b",
    re.IGNORECASE,
)
"""The first words of such questions, and an error's."""
_VERB = re.compile(r"\b(?:call|called|use|used|using|invoke|invoked|instantiate|instantiated|referenced|constructed|calling)\b")
_PLEASE = re.compile(r"^(?:please |(?:can|could) you |find |show |list |give |tell |me |us )+", re.IGNORECASE)
_ANNOTATION = re.compile(r"@(?P<name>[A-Za-z][\w.]{2,80})")
_BARE_ENV = re.compile(r"[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,8}")
_BARE_STYLE = re.compile(r"\.(?P<name>[a-z]\w*(?:-[\w]+)+)")
_BARE_COMMAND = re.compile(r"[a-z][\w-]{1,30}(?::[a-z][\w-]{1,40}){1,3}")
_PLAIN = frozenset({
    *(Relation.IMPLEMENTS, Relation.OVERRIDES, Relation.USES, Relation.TESTS, Relation.PROVIDES, Relation.VALUE),
    *(Relation.ANNOTATES, Relation.RENDERS, Relation.READS, Relation.NOTIFIES),
})  # fmt: skip
"""Relations of which a plain word may be no name: "what uses memory"."""


def relation_in(text: str) -> AskedRelation | None:
    """Return the relation that a question asks for; None for other questions.

        "which classes implement Handler", "where is DB_HOST read?", "tests of parse_args", "make lint", "@Inject"

    Parameters:
        text: of the question.
    """
    text = text.strip()
    if not 2 < len(text) <= _LONGEST or "\n" in text:
        return None
    if bare := _bare(text):
        return bare
    if " " not in text or not _ASKS.search(text):
        return None
    plain = _PLEASE.sub("", text.rstrip("?. ")).strip("` ")
    for relation, is_surely, form in _FORMS:
        found = form.fullmatch(plain)
        if found and (asked := _asked(relation, found, is_surely=is_surely)):
            return asked
    return None


def _bare(text: str) -> AskedRelation | None:
    """Return what a name alone asks for: the users of an annotation, the readers of a variable, a rule of style."""
    plain = text.strip("`")
    if found := _ANNOTATION.fullmatch(plain):
        return AskedRelation(Relation.ANNOTATES, found["name"])
    if _BARE_ENV.fullmatch(plain):
        return AskedRelation(Relation.READS, plain)
    if found := _BARE_STYLE.fullmatch(plain):
        return AskedRelation(Relation.STYLES, found["name"])
    return AskedRelation(Relation.RUNS, plain) if _BARE_COMMAND.fullmatch(plain) else None


def _asked(relation: Relation, found: re.Match[str], *, is_surely: bool) -> AskedRelation | None:
    groups = found.groupdict()
    name, marks, of = groups["name"], groups.get("marks") or "", groups.get("of") or ""
    if relation is Relation.USES and not _VERB.search(found[0].replace(name, "", 1)) and found[0].lower().startswith("where"):
        # "where is App" asks for the definition.
        return None
    if relation is Relation.USES and "@" in marks:
        relation = Relation.ANNOTATES
    is_marked = bool(marks or groups.get("called") or groups.get("event"))
    if relation in _PLAIN and not (is_marked or is_spelled_as_name(name) or name[:1].isupper() or re.search(r"[./:_-]", name)):
        return None
    return AskedRelation(relation, name, of.lower(), is_surely)

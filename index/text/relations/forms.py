"""The forms of lines with a relation to a name, as one table.

A relation has tiers of forms: lines of a later tier count only if no earlier one is found.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from cqm.index.text.names.parts import last_part
from cqm.index.text.relations.asked import AskedRelation, Relation

_Tier = Sequence[str]
_BODY = r"\{(?!\s*(?:\}|\w+\s*=[^=]))"
"""The body of an anonymous class: the values of C#'s `new Point() { X = 1 }` are none."""
_QUOTE = r"[\"'`]"
_REST = r"\w{0,40}\b"
"""Rest of a word with a telling beginning; without a bound, a long word would be read for each of its letters."""
_TYPES = r"class|interface|struct|enum|object|record|trait|protocol|actor|extension|mixin"
_HEAD = re.compile(rf"\b(?:{_TYPES})[ \t]+(?P<name>[A-Za-z_][\w$.]{{0,120}})|\bobject(?=\s*:)")
_LONGEST_HEAD = 1_200
"""Characters of a declaration to search for its bases: constructors have many parameters."""
_GOES_ON = re.compile(r"\s*(?:[:,<(]|extends\b|implements\b|with\b|where\b|constructor\b|private\b|internal\b)")
_BASES = re.compile(r"\b(?:extends|implements|with)\b|:")
_OPENING = "([<"
_BRACKETS = f"{_OPENING})]>"
_SIGN = re.compile(rf"[{re.escape(_BRACKETS)}{{;=\n]| where ")
"""A bracket, or a possible end of a declaration; the constraints of type parameters come after its bases."""
_MOST_HEADS = 100
"""Most declarations of a chunk to read: more are no program."""


def tiers_of(asked: AskedRelation) -> list[re.Pattern[str]]:
    """Return the patterns of lines with a relation, the surest first; empty where a symbol's definition answers."""
    own = last_part(asked.name.replace("\\", "/")) if asked.relation in OF_SYMBOLS else asked.name
    word = rf"(?<![\w$]){re.escape(own)}(?![\w$])"
    make = _FORMS.get(asked.relation)
    tiers = make(asked, re.escape(own), word) if make else ()
    return [re.compile("|".join(tier), re.MULTILINE) for tier in tiers]


def declared_below(name: str, text: str) -> int:
    """Return where a text declares a type below another, of those with their bases behind ":" or a word; -1 if nowhere.

        class Repo(val db: Base) : Base, Closeable {
        class Handler extends Base implements Runnable {

    Parameters:
        name: of the base, its last part.
    """
    if name not in text:
        return -1
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    for head in islice(_HEAD.finditer(text), _MOST_HEADS):
        said = _outside_brackets(text[head.end() : head.end() + _LONGEST_HEAD])
        bases = _BASES.search(said)
        if bases and word.search(said, bases.end()):
            return head.start()
    return -1


def _outside_brackets(rest: str) -> str:
    """Return the characters of a declaration outside of all brackets, up to its body."""
    said, depth, start = "", 0, 0
    for found in _SIGN.finditer(rest):
        sign, at = found[0], found.start()
        if sign in _BRACKETS:
            said += "" if depth else rest[start:at]
            depth = depth + 1 if sign in _OPENING else max(0, depth - 1)
            start = found.end()
        elif not depth and (sign != "\n" or _ends(rest, at)):
            return said + rest[start:at]
    return said if depth else said + rest[start:]


def _ends(rest: str, at: int) -> bool:
    """Whether a declaration ends with a line: it neither goes on in the next one, nor in one of constraints."""
    return not rest[:at].rstrip().endswith((":", ",")) and not _GOES_ON.match(rest, at)


def _implements(_: AskedRelation, name: str, word: str) -> Sequence[_Tier]:
    return (
        (
            # Python, Ruby, Rust, Go, Haskell, Elixir, JavaScript, anonymous classes
            rf"^[ \t]*class\s+\w+\s*(?:\[[^\]\n]{{0,100}}\]\s*)?\((?>[^:{{}}]{{0,400}}?{word})[^:{{}}]{{0,400}}?\)\s*:",
            rf"^[ \t]*(?:class|module)\s+[\w:]+\s*<\s*(?:[\w:]+::)?{word}",
            rf"^[ \t]*(?:include|prepend)\s+(?:[\w:]+::)?{word}\s*$",
            rf"^[ \t]*(?:unsafe\s+)?impl\b[^{{}};\n]{{0,200}}?{word}[^{{}};\n]{{0,200}}?\sfor\b",
            rf"^[ \t]*#\[derive\([^\]]{{0,300}}?{word}",
            rf"^[ \t]*var\s+_\s+(?:[\w.]+\.)?{word}\s*=",
            rf"^instance\b[^\n]{{0,160}}?{word}",
            rf"^[ \t]*(?:@behaviour|use)\s+(?:[\w.]+\.)?{word}\s*$|^[ \t]*defimpl\s+(?:[\w.]+\.)?{word}",
            rf"(?<![\w$.]){name}\.extend\(",
            rf"\bnew\s+(?:[\w.]+\.)?{word}\s*(?:<[^<>\n]{{0,100}}>)?\s*\([^()\n]{{0,200}}\)\s*{_BODY}",
        ),
    )


def _uses(_: AskedRelation, name: str, word: str) -> Sequence[_Tier]:
    return (
        (
            rf"(?<![\w$]){name}(?:(?:::)?<[^<>()\n]{{0,80}}>)?!?[ ]?\(",
            rf"\bnew\s+(?:[\w.\\]+[.\\])?{word}",
            rf"<{name}(?![\w-])",
            rf"(?:::|[@&.#]){name}(?![\w$(])",
        ),
        (word,),
    )


def _word(_: AskedRelation, __: str, word: str) -> Sequence[_Tier]:
    return ((word,),)


def _annotates(asked: AskedRelation, _: str, __: str) -> Sequence[_Tier]:
    name = re.escape(asked.name)
    return (
        (
            rf"@(?:[\w.]+\.)?{name}(?![\w$])",
            rf"#!?\[[^\]\n]{{0,120}}?(?<![\w$]){name}(?![\w$])",
            rf"^[ \t]*\[[^\]\n]{{0,120}}?(?<![\w$]){name}(?![\w$])",
        ),
    )


def _renders(asked: AskedRelation, _: str, __: str) -> Sequence[_Tier]:
    name = re.escape(asked.name)
    quoted = rf"[^\n]{{0,80}}?{_QUOTE}(?:\.{{0,2}}/)?{name}(?:\.\w{{1,10}}){{0,3}}{_QUOTE}"
    return (
        (
            rf"(?:include|extends|embed|render|partial|component|yield|mount|slot|template){_REST}{quoted}",
            rf"<{name}(?![\w-])",
            rf"\{{\{{>\s*{name}(?![\w-])",
        ),
        (rf"(?:layout|view|page|response){_REST}{quoted}",),
    )


def _provides(_: AskedRelation, name: str, word: str) -> Sequence[_Tier]:
    owner = r"(?:[\w.\\]{1,80}[.\\])?"
    added = r"(?:Scoped|Singleton|Transient|HostedService|DbContext)\w*(?:<|\(\s*typeof\()"
    verbs = r"(?:bind|singleton|scoped|instance|register|to|toInstance|provide|factory|single|inject|singleOf)\w*"
    arguments = r"(?:\([^)\n]{0,100}\))?"
    annotated = rf"@(?:Provides|Bean|Binds|Produces)\b{arguments}(?:\s+@\w+{arguments}){{0,5}}\s+"
    modifiers = r"(?:(?:public|static|abstract|private|protected|internal|final)\s+){0,3}"
    function = r"(?:fun\s+\w+\([^{}=]{0,600}?\)\s*:\s*)?"
    return (
        (
            rf"\b(?:Try)?Add(?:Keyed)?{added}\s*{owner}{word}",
            rf"(?:\b|->){verbs}[(<\s]\s{{0,40}}(?:\{{\s{{0,40}})?{owner}{word}",
            rf"\bprovide:\s*{owner}{word}",
            rf"{annotated}{modifiers}{function}{owner}{word}",
            rf"\bfx\.(?:Provide|Annotate)\([^\n]{{0,80}}?New{name}\b",
            rf"\bwire\.(?:Build|NewSet|Bind)\([^\n]{{0,200}}?{word}",
        ),
    )


def _reads(asked: AskedRelation, _: str, __: str) -> Sequence[_Tier]:
    name = re.escape(asked.name)
    word = rf"(?<![\w$-]){name}(?![\w$-])"
    source = (
        r"(?:environ|[gG]et_?[eE]nv|LookupEnv|GetEnvironmentVariable|\benv|\bENV|\bEnv|process\.env|import\.meta\.env"
        r"|env::var(?:_os)?)\b"
    )
    env = (
        rf"{source}[^\w\n]{{0,6}}(?:\w{{3,10}}[(<]+[^\w\n]{{0,3}})?{word}",
        rf"\benv(?:ironment)?\s*[:=]+\s*\"{name}\"",
        rf"@Value\([^\n]{{0,20}}\$\{{{name}\b",
        rf"\$\{{?{name}(?![\w])",
    )
    reader = (
        r"(?:\b(?:get|has|flag|param|prop|value|env|fetch|lookup|enabled|read|load|cfg|conf)"
        rf"|[cC]onfig|[sS]etting|[oO]ption|[pP]ropert){_REST}"
    )
    quoted = (
        rf"{reader}(?:<[^<>\n]{{0,60}}>)?\W{{1,4}}(?:[\w.]{{1,60}},\s*)?{_QUOTE}{name}{_QUOTE}",
        rf"\b(?:settings|config|options|conf|cfg)\.{name}(?![\w$])",
    )
    if not re.search(r"[a-z]", asked.name):
        return (env, quoted) if asked.name.isupper() else (quoted,)
    return (quoted, (rf"{_QUOTE}{name}{_QUOTE}",))


def _migrates(asked: AskedRelation, name: str, _: str) -> Sequence[_Tier]:
    table, quote = re.escape(asked.of), r"[\"'`:]"
    return (
        (
            rf"(?i:\badd_?column[\s(]+{quote}{table}{quote}?,\s*(?:\w[\w.(]*\(?)?\s*{quote}{name}\b)",
            rf"\b(?:Schema::table|change_table|alterTable|table)\W{{1,4}}{table}\b[^;]{{0,120}}?\{{[^{{}}]{{0,1500}}?(?:->|\.)\w+\(\s*{quote}{name}[\"'`]",
            rf"\bAddField\(\s*model_name={quote}{table}{quote},\s*name={quote}{name}{quote}",
            rf"(?i:\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+|ONLY\s+)?(?:\w+\.)?[`\"\[]?{table}[`\"\]]?\s[^;]{{0,600}}?\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?[`\"\[]?{name}\b)",
            rf"<addColumn[^>]{{0,200}}?tableName=\"{table}\"[^>]{{0,100}}>(?:(?!</addColumn)[\s\S]){{0,1500}}?name=\"{name}\"",
            rf"\bAddColumn<[^>\n]{{0,40}}>\(\s*name:\s*\"{name}\",\s*table:\s*\"{table}\"",
            rf"\badd_column\s+{quote}{table}\s*,\s*{quote}{name}",
        ),
        (
            rf"(?i:\b(?:create_?table|create\s+table|schema::create|createtable)\W[^\n]{{0,60}}?\b{table}\b(?:(?!create)[\s\S]){{0,3000}}?[\"'`:\s]{name}\b)",
        ),
    )


def _styles(_: AskedRelation, name: str, __: str) -> Sequence[_Tier]:
    return ((rf"^[^\n{{}};\"'<]{{0,200}}?\.{name}(?![\w-])[^\n{{}};\"'<]{{0,200}}?(?:[{{,]|$)",),)


def _translates(_: AskedRelation, name: str, __: str) -> Sequence[_Tier]:
    last = name.rpartition(r"\.")[2]
    return (
        (
            rf"{_QUOTE}{name}{_QUOTE}\s*(?:=>|:)",
            rf"\bname=\"{name}\"",
            rf"^[ \t]*{name}\s*:",
            rf"^msgid \"{name}\"",
            rf"^\"?{name}\"?\s*=",
        ),
        (rf"{_QUOTE}{last}{_QUOTE}\s*(?:=>|:)", rf"^[ \t]*{last}\s*:"),
    )


def _shows(_: AskedRelation, name: str, __: str) -> Sequence[_Tier]:
    return (
        (
            rf"\bR\.string\.{name}\b",
            rf"@string/{name}\b",
            rf"\bm\.{name}\(",
            rf"(?:\b\w*[tT]|\$t|_|__|trans|tr|lang|get{_REST}|key)[(=:]\s*{_QUOTE}(?:[\w.-]{{1,60}}\.)?{name}{_QUOTE}",
        ),
        (rf"{_QUOTE}(?:[\w.-]{{1,60}}\.)?{name}{_QUOTE}(?!\s*:)",),
    )


def _runs(asked: AskedRelation, name: str, _: str) -> Sequence[_Tier]:
    tool, last = asked.of, re.escape(asked.name.rpartition(":")[2])
    signature = (rf"\$signature\s*=\s*{_QUOTE}{name}(?![\w:-])", rf"\bAsCommand\([^\n]{{0,40}}?{_QUOTE}{name}{_QUOTE}")
    task = (rf"^[ \t]*task[ (]+[:\"']?{last}\b",)
    if "artisan" in tool:
        return (signature,)
    if tool.startswith("rake"):
        return (task,)
    if tool.startswith("make"):
        return ((rf"^{name}[ \t]*::?(?!=)",),)
    if tool == "just":
        return ((rf"^@?{name}\b[^:=\n]{{0,100}}:(?!=)",),)
    if "manage" in tool:
        return ((r"\A[\s\S]",),)
    return (signature, task) if not tool else ((rf"^[ \t]*\"{name}\"\s*:\s*[\"\[]",),)


def _notifies(asked: AskedRelation, _: str, __: str) -> Sequence[_Tier]:
    name = re.escape(asked.name)
    word = rf"(?<![\w$]){name}(?![\w$])"
    literal = rf"\s*(?:<[^<>\n]{{0,60}}>)?[(\s][^\n\"'`]{{0,60}}{_QUOTE}{name}{_QUOTE}"
    emitting = (
        rf"\b(?:emit|trigger|fire|dispatch|publish|send|notify|broadcast|produce|createEvent|CustomEvent)\w*{literal}",
        rf"\b{name}\.(?:send|send_robust|emit|fire|notify|publish)\b|\b{name}::dispatch\b",
        rf"\b(?:event|dispatch|publish|publishEvent|fire|post|raise)\(\s*(?:new\s+)?(?:\w+\.)?{word}",
    )
    hearing = (
        rf"\b(?:on|once|off|subscribe|listen|handle|consume|queue|topic|instrument|connect|add_listener|addListener)\w*{literal}",
        rf"\b(?:add|remove)EventListener{literal}",
        rf"@receiver\(\s*\[?{word}|\b{name}\.(?:connect|subscribe|listen|add_listener)\b",
        rf"\b{name}::class|@EventListener[^\n]{{0,100}}\n[^\n]{{0,200}}\(\s*(?:final\s+)?{word}",
        rf"\bfunction\s+handle\(\s*{word}|\bon{name}\s*=|\bon:{name}\b|@{name}=",
    )
    if asked.of:
        return (emitting, hearing) if asked.of == "emit" else (hearing, emitting)
    return ((*emitting, *hearing),)


def _value(_: AskedRelation, name: str, __: str) -> Sequence[_Tier]:
    return ((rf"(?<![\w$.]){name}\s*(?::[^=\n]{{0,60}})?=(?![=>])",),)


def _numbered(_: AskedRelation, name: str, __: str) -> Sequence[_Tier]:
    return (
        (rf"(?:ERR|Err|STATUS|Status|EXIT|Exit|CODE|Code|FAIL|FAULT){_REST}(?:\s*[=:(]\s*|[ \t]+)\(?{name}(?![\w.])",),
    )


_FORMS: dict[Relation, Callable[[AskedRelation, str, str], Sequence[_Tier]]] = {
    Relation.IMPLEMENTS: _implements,
    Relation.USES: _uses,
    Relation.TESTS: _word,
    Relation.ANNOTATES: _annotates,
    Relation.RENDERS: _renders,
    Relation.PROVIDES: _provides,
    Relation.READS: _reads,
    Relation.MIGRATES: _migrates,
    Relation.STYLES: _styles,
    Relation.TRANSLATES: _translates,
    Relation.SHOWS: _shows,
    Relation.RUNS: _runs,
    Relation.NOTIFIES: _notifies,
    Relation.NUMBERED: _numbered,
    Relation.VALUE: _value,
}
OF_SYMBOLS = frozenset({Relation.IMPLEMENTS, Relation.USES, Relation.TESTS, Relation.PROVIDES})
"""Relations to symbols: of a qualified name the last part stands in lines."""
BESIDE = {
    Relation.IMPLEMENTS: "class extends implements impl for",
    Relation.TESTS: "test assert spec",
    Relation.RENDERS: "include render extends template",
    Relation.PROVIDES: "provides bind singleton provide register",
    Relation.READS: "env environ getenv config get settings",
    Relation.MIGRATES: "migration column add table alter",
    Relation.RUNS: "scripts signature task command phony",
    Relation.NOTIFIES: "event emit on dispatch listener",
    Relation.NUMBERED: "define error code status enum",
}
"""Words beside such lines."""

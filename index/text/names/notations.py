"""Read names in the notations of languages, debuggers and documentation: `(*gin.Context).Bind`, `get/2`, `Map$Node`."""

import re
from collections.abc import Iterator

from cqm.index.text.names.parts import BETWEEN, dotted

LONGEST = 400
"""Most characters of a line for a name or a declaration."""
_PART = r"~?[$@]?[^\W\d][\w$]*'{0,3}[?!=]?"
_NAME = re.compile(rf"(?:{BETWEEN})?((?:{_PART}(?:\.#|{BETWEEN}))*{_PART})(?:\((?:[^()]|\([^()]*\)){{0,300}}\)?)?[;:]?")
_SIGNS = (
    r"(?:\[\]=?|(?![?!.]+$)[^\w\s.,;'\"`(){}\[\]\\@$][^\w\s,;'\"`(){}\[\]\\@$]{0,7}|\.[^\w\s.,;'\"`(){}\[\]\\@$]\.)"
)
_OPERATOR = re.compile(
    rf"(?P<outer>(?:{_PART}(?:\.|::))*{_PART}(?:\.|::|#))?"
    rf"(?:\((?P<inner>{_SIGNS})\)"
    rf"|(?P<sign>operator\s?(?:\(\)|\"\"\s?_?\w+|{_SIGNS}|,)|operator\s\w[\w:<>*& ]{{0,60}}|{_SIGNS}))"
)
_GO_PATH = re.compile(r"(?:[\w~-]+\.)+[\w~-]+/(?:[\w.~-]+/)*(?=[\w-]+\.)")
_HYPHENATED = re.compile(r"(?=[\w.]{0,100}\w-)[^\W\d][\w.-]{1,200}\w")
_VERSION = re.compile(r"/v\d+(?=\.)")

# Left out in this order; each is of a language or tool.
_CUTS = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        # Lines and commands of test runners: --- FAIL: TestSend (0.01s), go test ./mail -run ^TestSend$.
        (r"^(?:---|===) (?:FAIL|PASS|SKIP|RUN|CONT|PAUSE):? {1,8}(\w+)(?:/\S{0,200})?(?: \([\d.]{1,12}s\))?$", r"\1"),
        (r"^go test .{0,200}?-(?:run|bench)[ =]['\"]?\^?(\w+)\$?(?:/\S{0,200})?['\"]?(?: .{0,200})?$", r"\1"),
        (r"^\S{0,100}phpunit .{0,200}?--filter[ =]['\"/]?(?:[\w\\]{1,200}::)?(\w+)\$?['\"/]?(?: .{0,200})?$", r"\1"),
        (r" with data set (?:#\d{1,6}|\".{1,200}\")(?: \(.{0,300})?$", ""),
        # Python's repr, C#'s typeof.
        (r"<(?:class|function|module|bound method|enum) '?([\w.]+)'?[^<>]*>", r"\1"),
        (r"typeof\(([\w.<>]+)\)", r"\1"),
        # Objective-C: -[Session requestFor:], +[Session shared].
        (r"[-+]\[(\w+)(?:\(\w+\))? (\w+)[\w:]*\]", r"\1.\2"),
        # Imports of one thing.
        (
            r"(?:import|using|use|require|alias)\s+(?:static\s+|type\s+)?(\\?\w+(?:(?:\.|::|\\)\w+)+)(?:\s+as\s+\w+)?;?",
            r"\1",
        ),
        (r"from\s+[\w.]+\s+import\s+(\w+)", r"\1"),
        # Descriptors of the JVM: Lcom/app/Map$Node; and C++'s const methods.
        (r"^L((?:\w+/)+[\w$]+);?$", r"\1"),
        (r"(?<=\)) (?:const|noexcept)$", ""),
        # PHP's Controller@show, C#'s closures and state machines.
        (r"^((?:\w+\\)*[A-Z]\w*)@(?=[a-z]\w*$)", r"\1."),
        (r"<(\w+)>[bdg]__\w+(?:\.MoveNext)?|<>c\w*\.", r"\1"),
        # Values made of a type: new Handler(…), &gin.Context{}, []gin.Route, map[string]Route, %Message{}.
        (r"^(?:(?:new|await|throw new|return new)\s+(?=[A-Z\\]|[a-z]\w*[.:\\]))", ""),
        (r"^(?:&mut |&'\w+ |&|\*|\[\d{0,9}\]|map\[[\w.]{1,60}\]|%(?=\w)|\.\.\.|chan |<-)+(?=[\w($*&\[%<])", ""),
        (r"(?<=\w)\s?\{(?:[^{}]|\{[^{}]{0,100}\}){0,300}\}?;?$", ""),
        # Rust: <Sleep as Future>::poll, <impl Read for Child>::read, its hashes and closures.
        (r"^<impl [^<>]{1,100}(?:<[^<>]{0,60}>)? for ([^<>]{1,100})(?:<[^<>]{0,60}>)?>(?=::)", r"\1"),
        (r"^<([^<>]{1,100})(?:<[^<>]{0,60}>)? as [^<>]{1,100}(?:<[^<>]{0,60}>)?>(?=::)", r"\1"),
        (r"^<([\w:]{1,100})(?:<[^<>]{0,60}>)?>(?=::)", r"\1"),
        (r"^(?:Box|Arc|Rc|Option|Vec)<(?:dyn )?([\w:]{1,100})>$", r"\1"),
        (r"::h[0-9a-f]{16}$", ""),
        (r"(?:::\{\{?closure(?:#\d+)?\}?\}?|::\{\{?closure(?:#\d+)?)+$", ""),
        (r"(?<![\w])r#(?=\w)", ""),
        # Go: (*cobra.Command).Execute, gin.(*Engine).Run, Logger.func1, (*Context).Next-fm.
        (r"\((?:\w+ )?[*&]?([\w.]{1,200})\)(?=\.\w)", r"\1"),
        (r"(?:\.(?:func|gowrap|deferwrap)\d+(?:\.\d+)*|-fm|-range\d+)+(?:\(\))?$", ""),
        # Linkers and debuggers: name@plt, name@@GLIBC_2.2.5, name+0x1a.
        (r"(?:\([^()]{0,300}\))?(?:@plt|@{1,2}[A-Z][\w.]{1,40}|\+(?:0x[0-9a-f]{1,16}|\d+)(?:/0x[0-9a-f]{1,16})?)$", ""),
        (r"(?:\.(?:part|isra|constprop|cold|lto_priv)(?:\.\d+)*)+$|(?<=\w) \(\w+=.*\)$", ""),
        # Python: outer.<locals>.inner; JavaScript: Type.prototype.name.
        (r"\.<locals>(?=\.)|\.<lambda>$", ""),
        (r"\.prototype(?=\.)", ""),
        # The JVM and .NET: Map.<init>, lambda$read$0, Map$1, Map$Node, Sequence`1, Outer+Inner.
        (r"\.<(?:cl)?init>(?=\(|$)", ""),
        (r"\blambda\$([A-Za-z]\w*)\$\d+$", r"\1"),
        (r"(?<=\w)\$\$?(?:\d+|Lambda\S*)$|(?<=\w)\$(?=\.|$)", ""),
        (r"`\d+(?:\[{1,2}[^\[\]]{0,200}\]{1,2})?", ""),
        (r"(?<!\w)[A-Z]\w*Kt\.(?=\w)", ""),
        (r"(?<=[\w>])\+(?=[A-Z]\w)", "."),
        (r"^((?:\w+\.|\\?\w+\\)*[A-Z]\w*)(?:::class|\.class|\.self)(?:\.java|\.kotlin)?$", r"\1"),
        # Elixir and Erlang: get/2.
        (r"(?<=[\w!?])/\d{1,2}$", ""),
        # Zig's types made by functions: Clap(Id, Iterator).next.
        (r"(?<=\w)\([^()]{0,100}\)(?=\.\w)", ""),
        # Arguments of types, twice, since they may have their own.
        *((r"(?:::)?<[^<>()]{0,100}>(?!\w)|(?<=\w)\[[\w, .*]{0,100}\]", ""),) * 2,
    )
)
_SENTENCE = re.compile(r"\w+(?:[ ,-]+\w+){2,}[.?]?")
"""Words alone: no notation has three of them, but an import."""
_NESTED = re.compile(r"(?<=\w)\$(?=[A-Za-z_])")
_IS_NESTED = re.compile(r"[A-Z.]")


def is_hyphenated(text: str) -> bool:
    """Whether a text is a name with hyphens, as of Helm's templates and functions of shells, or a word of prose."""
    return _HYPHENATED.fullmatch(text) is not None


def notations(text: str) -> Iterator[str]:
    """Yield the possible names in a text in a notation of a language or tool, with "." between their parts.

    A sentence is no name. Nothing tells whether there is such a symbol.
    """
    text = text.strip().strip("`").strip()
    if "\n" in text or len(text) > LONGEST or (_SENTENCE.fullmatch(text) and not text.startswith("from ")):
        return
    if found := _OPERATOR.fullmatch(text):
        sign = found["inner"] or found["sign"]
        yield (f"{dotted(found['outer'].rstrip('.:#'))}." if found["outer"] else "") + sign
        return
    if is_hyphenated(text):
        yield text
        return
    path = _GO_PATH.match(text)
    outer, text = (path[0], text[path.end() :]) if path else ("", text)
    for pattern, by in _CUTS:
        text = pattern.sub(by, text)
    found = _NAME.fullmatch(text.strip())
    if not found:
        return
    name = f"{outer}{found[1]}"
    if "$" in name and _IS_NESTED.search(name):
        yield dotted(_NESTED.sub(".", name))
    yield dotted(name.replace(".#", "."))

"""Define the rows of languages without a grammar: patterns of lines tell their declarations."""

from dataclasses import replace

from cqm.chunkers.languages.line_patterns import LineParts, LinePatterns
from cqm.chunkers.languages.model import Language, blank

_ID = r"(?P<name>[A-Za-z_]\w*)"
_VB = r"(?:<[^<>\n]{1,200}>[ \t]*)*(?i:(?:(?:Public|Private|Protected|Friend|Shared|Static|Partial|MustInherit"
_VB += r"|NotInheritable|Overrides|Overridable|MustOverride|Overloads|Shadows|ReadOnly|WriteOnly|Async|Iterator|Default"
_VB += r"|Global|Declare|PtrSafe|WithEvents)\s+)*"
_HASH_COMMENT = r"\s*#"
_SLASH_COMMENT = r"\s*(?://|/\*|\*(?!\w))"
_DECORATED = r"\s*(?:@|\[|#\[|\{\.)"


def _row(
    name: str,
    suffixes: tuple[str, ...],
    comment: str,
    declarations: tuple[tuple[str, str], ...],
    closing: str = r"[\])}>]",
    *,
    above: str = _DECORATED,
    has_braces: bool = False,
) -> Language:
    """Make a row without rules: its outline comes from its lines, and every symbol is marked as guessed."""
    patterns = tuple((kind, rf"\s*(?:{pattern})") for kind, pattern in declarations)
    by_lines = LinePatterns(patterns, comment, rf"\s*(?:{closing})", above, has_braces=has_braces)
    # A grammar in every installation makes an empty tree of the blank text.
    return Language(
        name, ("tree_sitter_c", "language"), {}, suffixes, removed=(blank,), by_lines=by_lines, is_guessed=True
    )


def _more(
    row: Language,
    *parts: LineParts,
    sections: tuple[tuple[str, str, str], ...] = (),
    ends: tuple[tuple[str, str], ...] = (),
    quotes: str = "",
) -> Language:
    """Add what few languages have: names without a piece, sections, words that end a declaration."""
    patterns = row.by_lines or LinePatterns(())
    return replace(row, by_lines=replace(patterns, sections=sections, ends=ends, parts=parts, quotes=quotes))


VISUAL_BASIC = _row(
    "visualbasic",
    (".vb", ".vbs", ".bas", ".frm", ".ctl"),
    r"\s*(?:'|(?i:rem)\b)",
    (
        ("namespace", r"(?i:Namespace)\s+(?P<name>[\w.]+)"),
        ("class", rf"{_VB}Class\s+)(?P<name>\w+)"),
        ("module", rf"{_VB}Module\s+)(?P<name>\w+)"),
        ("interface", rf"{_VB}Interface\s+)(?P<name>\w+)"),
        ("struct", rf"{_VB}(?:Structure|Type)\s+)(?P<name>\w+)"),
        ("enum", rf"{_VB}Enum\s+)(?P<name>\w+)"),
        ("function", rf"{_VB}(?:Sub|Function|Operator)\s+(?:Lib\s+)?)(?P<name>\w+)"),
        ("property", rf"{_VB}Property\s+(?:(?:Get|Let|Set)\s+)?)(?P<name>\w+)"),
        ("property", rf"{_VB}(?:Custom\s+)?Event\s+)(?P<name>\w+)"),
        ("type", rf"{_VB}Delegate\s+(?:Sub|Function)\s+)(?P<name>\w+)"),
        ("constant", rf"{_VB}Const\s+)(?P<name>\w+)"),
        (
            "variable",
            r"(?i:(?:Public|Private|Friend|Protected|Dim|Shared)\s+(?:Shared\s+|ReadOnly\s+)*)(?P<name>\w+)\s+(?i:As)\b",
        ),
    ),
    r"(?i:End|\#End)\b",
    above=r"\s*<",
)

WGSL = _row(
    "wgsl",
    (".wgsl", ".wesl"),
    _SLASH_COMMENT,
    (
        ("struct", rf"struct\s+{_ID}"),
        ("function", rf"(?:@\w+(?:\([^)]*\))?\s+)*fn\s+{_ID}"),
        ("constant", rf"(?:@\w+(?:\([^)]*\))?\s*)*(?:const|override)\s+{_ID}"),
        ("variable", rf"(?:@\w+(?:\([^)]*\))?\s*)*var(?:<[^>]*>)?\s+{_ID}"),
        ("type", rf"alias\s+{_ID}"),
    ),
    has_braces=True,
)

_NIM_NAME = r"(?P<name>[A-Za-z]\w*|`[^`]+`)"
_NIM_TYPE = rf"(?:type\s+)?{_NIM_NAME}\*?(?:\s*\[[^]]*\])?(?:\s*\{{\.[^}}]*\.\}})?\s*=\s*(?:ref\s+|ptr\s+)?"
_NIM_FIELD = (
    r"(?P<names>(?!(?:of|else|when|elif|discard)\b)(?:[A-Za-z]\w*|`[^`]+`)[^:=()]*?)\s*(?:\{\.[^}]*\.\})?\s*:(?!:)"
)
_NIM_VALUES = r"(?P<names>(?:[A-Za-z]\w*|`[^`]+`)\s*(?:[=,#{].*)?)$"

NIM = _more(
    _row(
        "nim",
        (".nim", ".nims"),
        _HASH_COMMENT,
        (
            ("function", r"(?:proc|func|method|iterator|converter)\s+(?P<name>\w+|`[^`]+`)"),
            ("macro", r"(?:template|macro)\s+(?P<name>\w+|`[^`]+`)"),
            ("class", rf"{_NIM_TYPE}(?:object|tuple)\b(?!\s*\[)"),
            ("enum", rf"{_NIM_TYPE}enum\b"),
            ("interface", rf"{_NIM_TYPE}concept\b"),
            ("type", rf"type\s+{_NIM_NAME}\*?[^=]*="),
            ("constant", rf"const\s+{_NIM_NAME}"),
            ("variable", rf"(?:let|var)\s+{_NIM_NAME}"),
        ),
    ),
    LineParts(frozenset({"class"}), "property", rf"\s+(?:case\s+|of\s[^:]*:\s*|else\s*:\s*)?{_NIM_FIELD}"),
    LineParts(frozenset({"enum"}), "constant", rf"\s+{_NIM_VALUES}", rf".*=\s*enum\s+{_NIM_VALUES}"),
    sections=(
        (r"\s*type\s*(?:#.*)?$", "type", rf"\s*{_NIM_NAME}\*?[^=:]*="),
        (r"\s*const\s*(?:#.*)?$", "constant", rf"\s*{_NIM_NAME}\*?\s*(?:\{{[^}}]*\}}\s*)?[:=]"),
        (r"\s*(?:let|var)\s*(?:#.*)?$", "variable", rf"\s*{_NIM_NAME}\*?\s*(?:\{{[^}}]*\}}\s*)?[:=,]"),
    ),
    quotes='"""',
)

CRYSTAL = _more(
    _row(
        "crystal",
        (".cr",),
        _HASH_COMMENT,
        (
            ("class", r"(?:private\s+)?(?:abstract\s+)?class\s+(?P<name>[A-Z][\w:]*)"),
            ("struct", r"(?:private\s+)?(?:abstract\s+)?(?:struct|record|union)\s+(?P<name>[A-Z][\w:]*)"),
            ("class", r"(?:private\s+)?annotation\s+(?P<name>[A-Z][\w:]*)"),
            ("module", r"(?:private\s+)?(?:module|lib)\s+(?P<name>[A-Z][\w:]*)"),
            ("enum", r"(?:private\s+)?enum\s+(?P<name>[A-Z][\w:]*)"),
            (
                "function",
                r"(?:private\s+|protected\s+|abstract\s+)*(?:def|fun)\s+(?:self\.)?(?P<name>\w+(?:[?!]|=(?=[\s(]))?|[^\w\s(]+)",
            ),
            ("macro", r"(?:private\s+)?macro\s+(?P<name>\w+[?!]?)"),
            ("type", r"(?:private\s+)?(?:alias|type)\s+(?P<name>[A-Z][\w:]*)\s*="),
            ("constant", r"(?:private\s+)?(?P<name>[A-Z]\w*)\s*=(?![=~>])"),
        ),
        r"end\b|else\b|rescue\b|[\])}]",
    ),
    LineParts(
        frozenset({"class", "struct", "module"}),
        "property",
        r"\s*(?:private\s+|protected\s+)?(?:class_)?(?:property|getter|setter)[?!]?[ (]\s*(?P<names>[a-z:@_].*)",
        r"\s*(?:private\s+)?record\s+[\w:]+,\s*(?P<names>[a-z_].*)",
    ),
    LineParts(frozenset({"enum"}), "constant", r"\s+(?P<names>[A-Z]\w*)\s*(?:=.*|#.*)?$"),
)

_CDATA = r"(?:<Declaration><!\[CDATA\[)?\s*"
_ACCESS = r"(?i:(?:PUBLIC|PRIVATE|PROTECTED|INTERNAL|FINAL|ABSTRACT)\s+)*"

_DECLARED = r"\s*(?P<names>[A-Za-z_]\w*(?:\s*,\s*\w+)*)\s*(?:(?i:AT)\s*%[\w.*]+\s*)?:(?!=)"

# Of IEC 61131-3, in files of their own or in the XML of TwinCAT, where tags end what the text begins.
STRUCTURED_TEXT = _more(
    _row(
        "structuredtext",
        (".iecst", ".tcpou", ".tcdut", ".tcgvl", ".tcio"),
        r"\s*(?://|\(\*)",
        (
            ("class", rf"{_CDATA}(?i:FUNCTION_BLOCK)\s+{_ACCESS}{_ID}"),
            ("module", rf"{_CDATA}(?i:PROGRAM)\s+{_ACCESS}{_ID}\s*(?!:)"),
            ("interface", rf"{_CDATA}(?i:INTERFACE)\s+{_ACCESS}{_ID}"),
            ("function", rf"{_CDATA}(?i:FUNCTION|METHOD)\s+{_ACCESS}{_ID}"),
            ("property", rf"{_CDATA}(?i:PROPERTY)\s+{_ACCESS}{_ID}"),
            ("function", rf"(?i:ACTION)\s+{_ID}\s*:?\s*$"),
            ("function", r'<(?:Action|Transition) Name="(?P<name>\w+)"'),
            ("module", r'<GVL Name="(?P<name>\w+)"'),
            ("module", r"(?i:NAMESPACE)\s+(?P<name>[\w.]+)"),
            ("struct", rf"{_CDATA}(?i:TYPE\s+)?{_ACCESS}{_ID}\s*(?:(?i:EXTENDS)\s+[\w.]+\s*)?:\s*(?i:STRUCT|UNION)\b"),
            ("enum", rf"{_CDATA}(?i:TYPE)\s+{_ACCESS}{_ID}\s*:\s*\("),
            ("type", rf"{_CDATA}(?i:TYPE)\s+{_ACCESS}{_ID}\s*(?:(?i:EXTENDS)\s+[\w.]+\s*)?:"),
        ),
        above=r"\s*(?:\{|</?(?:\?xml|TcPlcObject|POU|Itf|DUT|Method|Property|Declaration)\b|<!\[CDATA\[)",
    ),
    LineParts(
        frozenset({"class", "module"}),
        "variable",
        _DECLARED,
        begins=r"\s*(?:<Declaration><!\[CDATA\[)?(?i:VAR(?:_\w+)?)\b",
        ends=r"\s*(?:(?i:END_VAR)\b|</Declaration>|<Implementation>)",
    ),
    LineParts(
        frozenset({"struct", "type"}),
        "property",
        rf"{_DECLARED}\s*[A-Za-z]",
        begins=r"\s*(?:.*:\s*)?(?i:STRUCT|UNION)\b",
    ),
    LineParts(
        frozenset({"enum", "type"}),
        "constant",
        r"\s*\(?\s*(?P<names>[A-Za-z_]\w*)\s*(?:\([^()]*\)\s*)?(?::=[^,;]*)?(?:,|\)|(?://|\(\*).*|$)",
        begins=r".*:\s*\(|\s*\(",
        ends=r"\s*\)",
    ),
    ends=(
        ("struct", r"\s*(?i:END_STRUCT|END_UNION|END_TYPE)\b"),
        ("enum", r"\s*(?:.*\)[^()]*)?(?i:END_TYPE)\b"),
        ("type", r"\s*(?i:END_TYPE)\b"),
        (
            "function",
            r"\s*(?:(?i:END_FUNCTION|END_METHOD|END_ACTION|END_TRANSITION)\b|</(?:Method|Action|Transition)>)",
        ),
        ("property", r"\s*(?:(?i:END_PROPERTY)\b|</Property>)"),
        ("class", r"\s*(?:(?i:END_FUNCTION_BLOCK)\b|</POU>)"),
        ("interface", r"\s*(?:(?i:END_INTERFACE)\b|</Itf>)"),
        ("module", r"\s*(?:(?i:END_PROGRAM|END_NAMESPACE)\b|</(?:GVL|POU)>)"),
        ("function", r"\s*</POU>"),
    ),
)

ELM = _row(
    "elm",
    (".elm",),
    r"\s*(?:--|\{-)",
    (
        ("module", r"(?:port |effect )?module\s+(?P<name>[\w.]+)(?=.*\bnothing\b)"),
        ("struct", r"(?<!\s)type\s+alias\s+(?P<name>[A-Z]\w*)[\w ]*=\s*$"),
        ("type", r"(?<!\s)type\s+alias\s+(?P<name>[A-Z]\w*)"),
        ("enum", r"(?<!\s)type\s+(?P<name>[A-Z]\w*)"),
        # Of a type, one a line: "= Home", "| Article Slug"; of a record "{ slug : Slug", ", title : String".
        ("constant", r"(?<=\s)[=|]\s+(?P<name>[A-Z]\w*)"),
        ("property", r"(?<=\s)[{,]\s+(?P<name>[a-z]\w*)\s+:\s(?!:)"),
        ("function", r"(?<!\s)port\s+(?P<name>[a-z]\w*)\s*:(?!:)"),
        (
            "function",
            r"(?<!\s)(?P<name>(?!import\b|module\b|port\b|type\b|exposing\b)[a-z]\w*)(?:\s+[\w(){},._]+)*\s*=(?!=)",
        ),
    ),
    above=r"[a-z]\w*\s*:(?!:)",
)

GLEAM = _more(
    _row(
        "gleam",
        (".gleam",),
        r"\s*//",
        (
            ("function", r"(?:pub\s+)?fn\s+(?P<name>\w+)"),
            ("type", r"(?:pub\s+)?(?:opaque\s+)?type\s+(?P<name>\w+)"),
            ("constant", r"(?:pub\s+)?const\s+(?P<name>\w+)"),
        ),
        has_braces=True,
    ),
    LineParts(
        frozenset({"type"}), "constant", r"(?:  |\t)(?P<names>[A-Z]\w*)\s*(?:\(.*)?$", r".*\{\s*(?P<names>[A-Z]\w*)"
    ),
)

TCL = _row(
    "tcl",
    (".tcl", ".tk", ".exp", ".itcl"),
    _HASH_COMMENT,
    (
        ("function", r"(?:proc|method|typemethod)\s+(?:::)?(?P<name>[^\s{]+)"),
        ("namespace", r"namespace\s+eval\s+(?:::)?(?P<name>[^\s{]+)"),
        ("class", r"(?:oo::class\s+create|itcl::class|snit::type)\s+(?P<name>[^\s{]+)"),
    ),
    has_braces=True,
)

COFFEESCRIPT = _row(
    "coffeescript",
    (".coffee", ".cson"),
    _HASH_COMMENT,
    (
        ("class", r"(?:module\.exports\s*=\s*|exports\.\w+\s*=\s*)?class\s+(?P<name>[\w.]+)"),
        ("function", r"(?P<name>@?[\w.]+)\s*[:=]\s*(?:\([^)]*\)\s*)?[-=]>"),
    ),
)

_D_FUNCTION = (
    r"(?!(?:return|else|throw|new|import|alias|if|for|foreach|while|switch|assert|case|delete|mixin|in|out)\b)"
    r"(?:@?\w+(?:\([^()]*\)|!\([^()]*\)|\[[^]]*\])*\*?\s+)+(?P<name>\w+)\s*(?:\([^()]*\))?\([^;]*$"
)

D = _row(
    "d",
    (".d", ".di"),
    r"\s*(?://|/\*|/\+|\*(?!\w))",
    (
        ("class", r"(?:(?:public|private|package|abstract|final|export)\s+)*class\s+(?P<name>\w+)"),
        ("interface", r"(?:(?:public|private|package)\s+)*interface\s+(?P<name>\w+)"),
        ("struct", r"(?:(?:public|private|package|static|export)\s+)*(?:struct|union)\s+(?P<name>\w+)"),
        ("enum", r"(?:(?:public|private|package)\s+)*enum\s+(?P<name>\w+)\s*(?::|\{|$)"),
        ("macro", r"(?:mixin\s+)?template\s+(?P<name>\w+)"),
        ("type", r"alias\s+(?P<name>\w+)"),
        ("test", r"(?:@?\w+\s+)*(?P<name>unittest)\b(?=\s*(?:\{|$|//))"),
        ("constructor", r"(?:(?:public|private|package)\s+)*(?P<name>~?this)\s*\("),
        ("function", _D_FUNCTION),
    ),
    r"[\])}>{]",
    has_braces=True,
)

ODIN = _more(
    _row(
        "odin",
        (".odin",),
        r"\s*//|\s*/\*",
        (
            ("function", rf"{_ID}\s*::\s*(?:#\w+\s+)*proc\b"),
            ("struct", rf"{_ID}\s*::\s*(?:distinct\s+)?(?:struct|union|bit_field)\b"),
            ("enum", rf"{_ID}\s*::\s*enum\b"),
            ("constant", rf"(?<!\s){_ID}\s*:(?:[^:=\n]*[^:=\s\n])?\s*:(?!=)"),
            ("variable", rf"(?<!\s){_ID}\s*(?:,\s*\w+\s*)*:"),
        ),
        has_braces=True,
    ),
    LineParts(frozenset({"struct"}), "property", r"\s+(?:using\s+)?(?P<names>[A-Za-z_]\w*(?:\s*,\s*\w+)*)\s*:(?![:=])"),
    LineParts(frozenset({"enum"}), "constant", r"\s+(?P<names>[A-Za-z_]\w*\s*(?:[=,].*|//.*)?)$"),
)

OPENSCAD = _row(
    "openscad",
    (".scad",),
    _SLASH_COMMENT,
    (
        ("function", r"(?:module|function)\s+(?P<name>\w+)\s*\("),
        ("variable", r"(?<!\s)(?P<name>\$?[A-Za-z_]\w*)\s*=(?!=)"),
    ),
    has_braces=True,
)

# The grammar of the bundle ends the process on some texts.
JUST = replace(
    _row(
        "just",
        (".just",),
        _HASH_COMMENT,
        (
            ("variable", rf"(?:export\s+)?{_ID}\s*:="),
            ("target", r"alias\s+(?P<name>[\w-]+)\s*:="),
            ("target", r"@?(?P<name>[A-Za-z_][\w-]*)(?=[^:\n]*:(?!=))"),
        ),
    ),
    filenames=("justfile", ".justfile"),
)


ROWS = (JUST, OPENSCAD, VISUAL_BASIC, WGSL, NIM, CRYSTAL, STRUCTURED_TEXT, ELM, GLEAM, TCL, COFFEESCRIPT, D, ODIN)

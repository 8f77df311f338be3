"""Define the rows of languages without a grammar: patterns of lines tell their declarations."""

from dataclasses import replace

from cqm.chunkers.languages.model import Language, LinePatterns, blank

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

NIM = _row(
    "nim",
    (".nim", ".nims"),
    _HASH_COMMENT,
    (
        ("function", r"(?:proc|func|method|iterator|converter)\s+(?P<name>\w+|`[^`]+`)"),
        ("macro", r"(?:template|macro)\s+(?P<name>\w+|`[^`]+`)"),
        ("class", rf"(?:type\s+)?{_ID}\*?(?:\[[^]]*\])?(?:\s*\{{\.[^}}]*\.\}})?\s*=\s*(?:ref\s+|ptr\s+)?object\b"),
        ("enum", rf"(?:type\s+)?{_ID}\*?(?:\s*\{{\.[^}}]*\.\}})?\s*=\s*enum\b"),
        ("constant", rf"const\s+{_ID}"),
        ("variable", rf"(?:let|var)\s+{_ID}"),
    ),
)

CRYSTAL = _row(
    "crystal",
    (".cr",),
    _HASH_COMMENT,
    (
        ("class", r"(?:private\s+)?(?:abstract\s+)?class\s+(?P<name>[A-Z][\w:]*)"),
        ("struct", r"(?:private\s+)?(?:abstract\s+)?(?:struct|record)\s+(?P<name>[A-Z][\w:]*)"),
        ("module", r"(?:private\s+)?(?:module|lib)\s+(?P<name>[A-Z][\w:]*)"),
        ("enum", r"(?:private\s+)?enum\s+(?P<name>[A-Z][\w:]*)"),
        ("function", r"(?:private\s+|protected\s+|abstract\s+)*(?:def|fun)\s+(?:self\.)?(?P<name>[\w?!=]+|[^\w\s(]+)"),
        ("macro", r"macro\s+(?P<name>\w+)"),
        ("type", r"alias\s+(?P<name>\w+)"),
        ("constant", r"(?P<name>[A-Z][A-Z0-9_]+)\s*="),
    ),
    r"end\b|else\b|rescue\b|[\])}]",
)

ELM = _row(
    "elm",
    (".elm",),
    r"\s*(?:--|\{-)",
    (
        ("module", r"(?:port |effect )?module\s+(?P<name>[\w.]+)(?=.*\bnothing\b)"),
        ("type", r"(?<!\s)type\s+(?:alias\s+)?(?P<name>[A-Z]\w*)"),
        ("function", r"(?<!\s)port\s+(?P<name>[a-z]\w*)\s*:(?!:)"),
        (
            "function",
            r"(?<!\s)(?P<name>(?!import\b|module\b|port\b|type\b|exposing\b)[a-z]\w*)(?:\s+[\w(){},._]+)*\s*=(?!=)",
        ),
    ),
    above=r"[a-z]\w*\s*:(?!:)",
)

GLEAM = _row(
    "gleam",
    (".gleam",),
    r"\s*//",
    (
        ("function", r"(?:pub\s+)?fn\s+(?P<name>\w+)"),
        ("type", r"(?:pub\s+)?(?:opaque\s+)?type\s+(?P<name>\w+)"),
        ("constant", r"(?:pub\s+)?const\s+(?P<name>\w+)"),
    ),
    has_braces=True,
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

ODIN = _row(
    "odin",
    (".odin",),
    r"\s*//|\s*/\*",
    (
        ("function", rf"{_ID}\s*::\s*(?:#\w+\s+)*proc\b"),
        ("struct", rf"{_ID}\s*::\s*(?:distinct\s+)?(?:struct|union|bit_field)\b"),
        ("enum", rf"{_ID}\s*::\s*enum\b"),
        ("constant", rf"(?<!\s){_ID}\s*::"),
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


ROWS = (JUST, VISUAL_BASIC, WGSL, NIM, CRYSTAL, ELM, GLEAM, TCL, COFFEESCRIPT, D, ODIN)

"""Signs and line patterns of languages, for programs unreadable to their grammar."""

import re

from cqm.chunkers.languages.line_patterns import LinePatterns
from cqm.chunkers.languages.model import blank
from cqm.chunkers.model import later

_ROW = rb"(?P<row>\n(?:[ \t\r]*+\n)*+)"
_BRACKETS = _ROW + rb"|(?P<sign>[][{}();])"
_OBJC_BRACKETS = _ROW + rb"|(?P<sign>[][{}();]|@(?:interface|implementation|protocol)\b[^\n;]*+(?=\n)|@end\b)"
_NOTES = rb"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_QUOTED = rb'"(?:[^"\\\n]|\\.)*+"?'
_CHARACTER = rb"'(?:[^'\\\n]|\\.)*+'?"
_ONE_CHARACTER = rb"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_DIRECTIVE = rb"(?<![^\n])[ \t]*+#[^\n\\/]*+(?:(?:\\\r?\n|\\|/(?![/*])|/\*(?:[^*\n]|\*(?!/))*+(?:\*/)?)[^\n\\/]*+)*+"


# Words, and brackets around nothing else: one step for all of them takes half the time of a try at each byte.
_PLAIN = rb"[^\x00-\x08\n-\x1f\x7f-\xff(){}\[\];\"'`/\\#@$%b]++%b"
_PLAINS = rb"(?P<plain>(?:%b|\((?:%b|\((?:%b)*+\))*+\)|\[(?:%b)*+\])++)"


def _signs(notes: bytes, texts: bytes, brackets: bytes = _BRACKETS, letter: bytes = b"") -> bytes:
    """Make the pattern of a language's signs.

    Parameters:
        notes, texts, brackets: alternatives for each of them.
        letter: which a text may begin with, before its quote or "#"; empty for none.
    """
    plain = _PLAIN % (letter, b'|%b(?!["#])' % letter if letter else b"")
    plains = _PLAINS.replace(b"%b", plain)
    return b"(?P<note>%b)|(?P<text>%b)|%b|%b" % (notes, texts, brackets, plains)


_RAW_CPP = rb'R"(?P<raw>[^()\\\s]{0,16})\(.*?(?:\)(?P=raw)"|\Z)'
C_SIGNS = _signs(_DIRECTIVE + b"|" + _NOTES, b"|".join((_QUOTED, _CHARACTER)))
OBJC_SIGNS = _signs(_DIRECTIVE + b"|" + _NOTES, b"|".join((_QUOTED, _CHARACTER)), _OBJC_BRACKETS)
CPP_SIGNS = _signs(
    _DIRECTIVE + b"|" + _NOTES, b"|".join((_RAW_CPP, _QUOTED, rb"(?<![0-9a-fA-F])" + _CHARACTER)), letter=b"R"
)
CSHARP_SIGNS = _signs(
    _DIRECTIVE + b"|" + _NOTES,
    b"|".join((rb'"""+.*?(?:"""+|\Z)', rb'\$?@\$?"(?:[^"]|"")*+"?', _QUOTED, _CHARACTER)),
)
_SWIFT_DIRECTIVE = rb"(?<![^\n])[ \t]*+#(?:if|else|elseif|endif|error|warning|sourceLocation)\b[^\n]*+"
SWIFT_SIGNS = _signs(_SWIFT_DIRECTIVE + b"|" + _NOTES, b"|".join((rb'""".*?(?:"""|\Z)', rb'#++"[^\n]*?"#++', _QUOTED)))
KOTLIN_SIGNS = _signs(_NOTES, b"|".join((rb'""".*?(?:"""++|\Z)', _QUOTED, _ONE_CHARACTER, rb"`[^`\n]*+`")))
JAVA_SIGNS = _signs(_NOTES, b"|".join((rb'""".*?(?:"""|\Z)', _QUOTED, _CHARACTER)))
SCRIPT_SIGNS = _signs(_NOTES, b"|".join((_QUOTED, _CHARACTER, rb"`(?:[^`\\]|\\.)*+`?")))
GO_SIGNS = _signs(_NOTES, b"|".join((_QUOTED, _CHARACTER, rb"`[^`]*+`?")))
RUST_SIGNS = _signs(_NOTES, b"|".join((rb'r#+".*?(?:"#+|\Z)', rb'"(?:[^"\\]|\\.)*+"?', _ONE_CHARACTER)), letter=b"r")
CSS_SIGNS = _signs(rb"/\*(?:[^*]|\*(?!/))*+(?:\*/)?", b"|".join((_QUOTED, _CHARACTER)))
SQL_SIGNS = _signs(rb"--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", b"|".join((rb"'(?:[^']|'')*+'?", rb'"[^"\n]*+"?')))
PERL_SIGNS = _signs(
    rb"(?<![$\w/])#[^\n]*+|(?<![^\n])=[a-z](?:[^\n]|\n(?!=cut))*+(?:\n=cut[^\n]*+)?",
    b"|".join((_QUOTED, _ONE_CHARACTER)),
)
BASH_SIGNS = _signs(rb"(?<![^\s;])#[^\n]*+", b"|".join((rb"'[^']*+'?", rb'"(?:[^"\\]|\\.)*+"?', rb"\\.")))
POWERSHELL_SIGNS = _signs(rb"<#.*?(?:#>|\Z)|(?<![`\w])#[^\n]*+", b"|".join((rb"'[^']*+'?", rb'"(?:[^"`]|`.)*+"?')))
RACKET_SIGNS = _signs(rb";[^\n]*+|#\|.*?(?:\|#|\Z)", rb'"(?:[^"\\]|\\.)*+"?')
PASCAL_SIGNS = (
    rb"(?P<note>//[^\n]*+|\{[^}]*+\}?|\(\*(?:[^*]|\*(?!\)))*+(?:\*\))?)|(?P<text>'[^'\n]*+'?)|"
    + _ROW
    + rb"|(?P<sign>[][();])|(?P<plain>[^\x00-\x08\n-\x1f\x7f-\xff(){}\[\];'/]++)"
)
PASCAL_DIRECTIVES = (
    rb"(?:\{|\(\*)\$(?P<word>(?i:ifdef|ifndef|ifopt|ifend|if|elseif|else|endif))\b"
    rb"(?P<condition>[^}*\n]{0,300}+)(?:\}|\*\))"
)
ZIG_SIGNS = _signs(_NOTES, b"|".join((rb"\\\\[^\n]*+", _QUOTED, _CHARACTER)))


KOTLIN_CONTINUES = re.compile(
    rb"[{.?:=&|+*/,<>)\]}]|(?:else|catch|finally|where)\b|(?:@[\w.]+(?:\([^()\n]*\))?\s+|[a-z]+\s+)*?"
    rb"constructor\b"
)
"""Begins a row continuing the declaration above it, even its constructor."""


def _pattern(text: str) -> str:
    return rf"\s*(?:{text})"


_MACRO = r"(?:[A-Z_\d]{3,}(?:\([^()]*\))?\s+)?"
_NO_CALL = (
    r"(?!(?:if|for|while|switch|return|else|do|case|goto|sizeof|throw|delete|new|using|typedef|defined|catch)\b"
    r"|[A-Z_][A-Z0-9_]*\s*\()"
)

C_LINES = LinePatterns(
    (
        ("macro", _pattern(r"#[ \t]*define[ \t]+(?P<name>\w+)")),
        ("namespace", _pattern(r"(?:inline\s+)?namespace\s+(?P<name>\w+(?:::\w+)*)")),
        ("function", _pattern(r"[A-Z][A-Z0-9_]+\(\s*(?P<name>\w+)\b[^;]*\)\s*\{")),
        (
            "class",
            _pattern(rf"(?:template\s*<[^;{{]*>\s*)?class\s+{_MACRO}(?P<name>\w+)(?=[^;()]*$)"),
        ),
        (
            "struct",
            _pattern(rf"(?:typedef\s+)?(?:struct|union)\s+{_MACRO}(?P<name>\w+)(?=\s*(?:final\s*)?(?::[^:]|\{{|$))"),
        ),
        ("enum", _pattern(r"(?:typedef\s+)?enum\s+(?:class\s+|struct\s+)?(?P<name>\w+)(?=[^;()]*$)")),
        ("type", _pattern(r"using\s+(?P<name>\w+)\s*=")),
        ("test", _pattern(r"(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*(?P<name>\w+\s*,\s*\w+)\s*\)")),
        (
            "function",
            _pattern(
                _NO_CALL
                + r"(?:[\w:<>,*&~\[\]]|\s(?!\())+?[\s*&](?P<name>(?!(?<=[,<] )[A-Z][A-Z0-9_]+\()(?:\w+::)*~?\w+)"
                + r"\s*\((?=[^;]*$)"
            ),
        ),
        ("function", _pattern(r"(?P<name>(?:\w+::)+~?\w+)\s*\((?=[^;]*$)")),
        # Its type stands in the line above, or it is a constructor: "run(1)" alone is a call.
        (
            "function",
            _pattern(_NO_CALL + r"(?P<name>~?\w+)\s*\((?=[^;]*\w[\s*&]+\w[^;]*$|\s*(?:void\s*)?\)[^;]*\{\s*$)"),
        ),
    ),
    comment=r"\s*(?://|/\*|\*(?![\w*])|#(?!\s*define))",
)
OBJC_LINES = LinePatterns(
    (
        ("class", _pattern(r"@(?:interface|implementation)\s+(?P<name>\w+)")),
        ("interface", _pattern(r"@protocol\s+(?P<name>\w+)(?=[^;]*$)")),
        ("method", _pattern(r"[-+]\s*\([^()]*\)\s*(?P<name>\w+:?)")),
        ("property", _pattern(r"@property\b.*?(?P<name>\w+)\s*;")),
        *C_LINES.declarations,
    ),
    comment=C_LINES.comment,
)
_WORDS = r"(?:[a-z]\w*(?:\([^()]*\))?\s+)*?"
_NOTED = r"(?:@[\w.:]+(?:\([^()]*\))?\s+)*"
KOTLIN_LINES = LinePatterns(
    (
        ("class", _pattern(_NOTED + _WORDS + r"(?:class|object)\s+(?P<name>\w+)")),
        ("interface", _pattern(_NOTED + _WORDS + r"interface\s+(?P<name>\w+)")),
        (
            "function",
            _pattern(_NOTED + _WORDS + r"fun\s+(?:<[^()]*>\s*)?(?P<name>(?:[\w<>?, *]+\.)?(?:\w+|`[^`]+`))\s*\("),
        ),
        ("property", _pattern(_NOTED + _WORDS + r"va[lr]\s+(?:<[^()]*>\s*)?(?P<name>(?:[\w<>?, *]+\.)?\w+)")),
        ("constructor", _pattern(_WORDS + r"(?P<name>constructor)\s*\(")),
        ("type", _pattern(_WORDS + r"typealias\s+(?P<name>\w+)")),
    )
)
SWIFT_LINES = LinePatterns(
    (
        ("class", _pattern(_NOTED + _WORDS + r"(?:class|actor|extension)\s+(?P<name>(?!func\b|var\b|let\b)[\w.]+)")),
        ("struct", _pattern(_NOTED + _WORDS + r"struct\s+(?P<name>\w+)")),
        ("enum", _pattern(_NOTED + _WORDS + r"enum\s+(?P<name>\w+)")),
        ("interface", _pattern(_NOTED + _WORDS + r"protocol\s+(?P<name>\w+)")),
        ("function", _pattern(_NOTED + _WORDS + r"func\s+(?P<name>[^\s(<]+)")),
        ("constructor", _pattern(_NOTED + _WORDS + r"(?P<name>init)[?!]?\s*[(<]")),
        ("method", _pattern(_NOTED + _WORDS + r"(?P<name>subscript)\s*[(<]")),
        ("property", _pattern(_NOTED + _WORDS + r"(?:var|let)\s+(?P<name>\w+)")),
        ("type", _pattern(_NOTED + _WORDS + r"(?:typealias|associatedtype)\s+(?P<name>\w+)")),
    )
)
_ATTRIBUTES = r"(?:\[[^\]\n]*\]\s*)*"
CSHARP_LINES = LinePatterns(
    (
        ("namespace", _pattern(r"namespace\s+(?P<name>[\w.]+)")),
        ("class", _pattern(_ATTRIBUTES + _WORDS + r"(?:class|record)\s+(?P<name>\w+)")),
        ("struct", _pattern(_ATTRIBUTES + _WORDS + r"struct\s+(?P<name>\w+)")),
        ("interface", _pattern(_ATTRIBUTES + _WORDS + r"interface\s+(?P<name>\w+)")),
        ("enum", _pattern(_ATTRIBUTES + _WORDS + r"enum\s+(?P<name>\w+)")),
        (
            "function",
            _pattern(
                _ATTRIBUTES
                + r"(?:(?:public|private|protected|internal|static|virtual|override|abstract|async|unsafe|extern"
                r"|sealed|new|readonly|partial)\s+)+(?:[\w<>,.?\[\]*]+\s+)*?(?P<name>\w+)\s*(?:<[\w, ]*>)?\((?=[^;]*$)"
            ),
        ),
        (
            "property",
            _pattern(
                _ATTRIBUTES
                + r"(?:(?:public|private|protected|internal|static|virtual|override|abstract|const|readonly)\s+)+"
                r"(?:[\w<>,.?\[\]*]+\s+)+?(?P<name>\w+)\s*(?=[{=;]|$)"
            ),
        ),
    )
)
GENERAL_LINES = LinePatterns(
    (
        ("class", _pattern(_NOTED + _WORDS + r"(?:class|object|impl)\s+(?P<name>[A-Za-z_]\w*)")),
        ("interface", _pattern(_WORDS + r"(?:interface)\s+(?P<name>\w+)")),
        ("trait", _pattern(_NOTED + _WORDS + r"trait\s+(?P<name>\w+)")),
        ("struct", _pattern(_WORDS + r"struct\s+(?P<name>\w+)")),
        ("struct", _pattern(r"type\s+(?P<name>\w+)(?:\[[^\]]*\])?\s+(?:struct|interface)\b")),
        ("enum", _pattern(_WORDS + r"enum\s+(?P<name>\w+)")),
        ("function", _pattern(_NOTED + _WORDS + r"(?:function\*?|fn|func|def)\s+(?:\([^()]*\)\s*)?(?P<name>[\w$]+)")),
        (
            "function",
            _pattern(
                _WORDS + r"(?:const|let|var)\s+(?P<name>[\w$]+)\s*=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>)"
            ),
        ),
    ),
)
BASH_CONTINUES = re.compile(rb"[{})|&;]|(?:then|do|done|else|elif|fi|esac)\b")
PYTHON_SIGNS = _signs(
    rb"\#[^\n]*+",
    b"|".join(
        (
            rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?',
            rb"\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*+(?:\'\'\')?",
            _QUOTED,
            _CHARACTER,
        )
    ),
)
PYTHON_CONTINUES = re.compile(rb"[)\]}]|(?:else|elif|except|finally)\b")
PYTHON_LINES = LinePatterns(
    (
        ("class", _pattern(r"(?:cdef\s+|cpdef\s+)?(?:public\s+|api\s+)*class\s+(?P<name>\w+)")),
        ("function", _pattern(r"(?:async\s+)?def\s+(?P<name>\w+)")),
        ("struct", _pattern(r"(?:cdef|ctypedef)\s+(?:packed\s+)?(?:struct|union)\s+(?P<name>\w+)")),
        ("enum", _pattern(r"(?:cdef|cpdef|ctypedef)\s+enum\s+(?:class\s+)?(?P<name>\w+)")),
        ("function", _pattern(r"c(?:p)?def\s+[^()=:]*?\b(?P<name>\w+)\s*\(")),
        ("type", _pattern(r"ctypedef\s+[^()=:]*?\b(?P<name>\w+)\s*$")),
    ),
    comment=r"\s*#",
    has_braces=False,
)


def _lines(*declarations: tuple[str, str], comment: str = r"\s*#", has_braces: bool = False) -> LinePatterns:
    patterns = tuple((kind, _pattern(pattern)) for kind, pattern in declarations)
    return LinePatterns(patterns, comment, has_braces=has_braces)


_SLASHES = r"\s*(?://|/\*|\*(?!\w))"
RUBY_LINES = _lines(
    ("class", r"class\s+(?P<name>[A-Z][\w:]*)"),
    ("module", r"module\s+(?P<name>[A-Z][\w:]*)"),
    ("function", r"(?:(?:private|protected|public|memoize)\s+)?def\s+(?:self\.)?(?P<name>[\w?!=]+|[^\w\s(]+)"),
)
LUA_LINES = _lines(("function", r"(?:local\s+)?function\s+(?P<name>[\w.:]+)"), comment=r"\s*--")
BASH_LINES = _lines(
    ("function", r"function\s+(?P<name>[\w:.-]+)"),
    ("function", r"(?P<name>[\w:.-]+)\s*\(\)"),
    has_braces=True,
)
POWERSHELL_LINES = _lines(
    ("function", r"(?i:function|filter)\s+(?:(?i:global|script|local|private):)?(?P<name>[\w:-]+)"),
    ("class", r"(?i:class)\s+(?P<name>\w+)"),
    ("enum", r"(?i:enum)\s+(?P<name>\w+)"),
    has_braces=True,
)
PERL_LINES = _lines(
    ("module", r"package\s+(?P<name>[\w:]+)\s*\{"),
    ("function", r"sub\s+(?P<name>[\w:']+)"),
    ("property", r"has\s+'?(?P<name>\w+)'?\s*(?:=>|,)"),
    comment=r"\s*(?:#|=\w)",
    has_braces=True,
)
PASCAL_LINES = _lines(
    ("function", r"(?i:class\s+)?(?i:procedure|function|constructor|destructor|operator)\s+(?P<name>\w+(?:\.\w+)*)"),
    ("class", r"(?P<name>\w+)\s*=\s*(?:packed\s+)?(?i:class|object|interface|dispinterface)\b(?!\s*;)"),
    ("struct", r"(?P<name>\w+)\s*=\s*(?i:packed\s+)?(?i:record)\b"),
    comment=r"\s*(?://|\{(?!\$)|\(\*)",
)
_GROOVY_TYPE = r"(?:(?:public|private|protected|static|final)\s+)*(?:def|void|boolean|int|[A-Z][\w<>,.?]*)\s+"
GROOVY_LINES = _lines(
    ("class", r"(?:(?:public|private|protected|abstract|final)\s+)*(?:class|trait|enum|interface)\s+(?P<name>\w+)"),
    ("function", _GROOVY_TYPE + r"(?P<name>\w+|\"[^\"]+\"|'[^']+')\s*\([^;=]*\{\s*$"),
    comment=_SLASHES,
    has_braces=True,
)
DART_LINES = _lines(
    ("class", r"(?:(?:abstract|base|final|sealed|interface|mixin)\s+)*(?:class|mixin|extension)\s+(?P<name>\w+)"),
    ("enum", r"enum\s+(?P<name>\w+)"),
    (
        "function",
        _NO_CALL + r"(?:@override\s+)?(?:static\s+)?[A-Za-z_][\w<>,?]*\s+(?:get\s+)?(?P<name>\w+)\s*\([^;]*(?:\{|=>)",
    ),
    comment=_SLASHES,
    has_braces=True,
)
JULIA_LINES = _lines(
    ("module", r"(?:bare)?module\s+(?P<name>\w+)"),
    ("function", r"(?:@\w+\s+)*function\s+(?P<name>[\w.!]+)"),
    ("macro", r"macro\s+(?P<name>\w+)"),
    ("struct", r"(?:mutable\s+)?struct\s+(?P<name>\w+)"),
    ("function", r"(?<!\s)(?P<name>[\w.!]+)\([^=]*\)\s*(?:where\s+.*)?=(?!=)"),
)
R_LINES = _lines(("function", r"(?P<name>[\w.]+)\s*(?:<-|=)\s*function\s*\("), has_braces=True)
ELIXIR_LINES = _lines(
    ("module", r"defmodule\s+(?P<name>[\w.]+)"),
    ("function", r"defp?\s+(?P<name>[\w?!]+)"),
    ("macro", r"defmacrop?\s+(?P<name>[\w?!]+)"),
)


_MARKUP = later(rb"<(?:[a-zA-Z!][^\s<>]*(?:[\s>]|$)|%)")
_BEFORE_MARKUP = later(rb"(?:=|->|\bin|\bbegin|\bthen|\belse|\bdo|[;(@])[ \t\r]*$")


def without_markup(source: bytes) -> bytes:
    """Write empty texts for the markup in templates, programs of OCaml: "let page = <p><%s text %></p>" on two rows.

    It begins below an unfinished row and lasts as long as rows are not indented less.
    """
    if b"</" not in source and b"<%" not in source:
        return source
    result: list[bytes] = []
    before, inside = b"", -1
    for row in source.split(b"\n"):
        bare = row.lstrip()
        indentation = len(row) - len(bare)
        if inside >= 0 and bare and indentation < inside and not bare.startswith(b"%"):
            inside = -1
        begins = inside < 0 and _MARKUP.match(bare) is not None and _BEFORE_MARKUP.search(before) is not None
        if begins:
            inside = indentation
        if inside >= 0:
            blanked_row = blank(row)
            result.append(blanked_row[:indentation] + b'""' + blanked_row[indentation + 2 :] if begins else blanked_row)
        else:
            result.append(row)
        before = row[-_END:] if bare else before
    return b"\n".join(result)


_END = 80
"""Bytes of a row that tell if it is finished."""

"""Patterns of lines which declare something in most languages, for those without a grammar or without its extra."""

from collections.abc import Mapping, Sequence

from cqm.chunkers.languages.line_patterns import LinePatterns

_NO_WORD = r"(?!(?:if|for|while|return|else|case|in|not)\b)"
_BEFORE = rf"\s*(?:@[\w.]+(?:\([^()]*\))?\s+)*(?:{_NO_WORD}[a-z]\w*(?:\([^()]*\))?\s+){{0,5}}?"
_KEYWORDS = {
    "class": "class|object|actor|contract|component|model|datasource|generator|resource|entity|abstract",
    "interface": "interface|protocol|trait|mixin|primitive",
    "struct": "struct|structure|record|union|message|exception",
    "enum": "enum(?:\\s+class)?",
    "module": "module|namespace|service|architecture|package\\s+body",
    "type": "type(?:\\s+alias)?|typedef|newtype|typealias|alias|data",
    "function": "function|func|fn|fun|procedure|proc|subroutine|sub|def|define|defn|predicate|operation|rule",
    "macro": "macro|template",
    "constant": "const|constant",
    "variable": "var|let|val|param|output|local",
}
_NAME = r"(?P<name>[A-Za-z_][\w.:#'!?-]*)"


def patterns_of(
    *own: tuple[str, str], comment: str = r"\s*(?://|/\*|\*(?!\w)|#(?!\w)|--|;)", has_braces: bool = True
) -> LinePatterns:
    """Return patterns of a language: its own first, then those of keywords most languages share.

    Parameters:
        own: kinds with patterns having a group "name".
        comment: begins a line without code.
        has_braces: whether braces tell how far a declaration reaches.
    """
    shared = [(kind, rf"{_BEFORE}(?:{words})\s+{_NAME}") for kind, words in _KEYWORDS.items()]
    mine = [(kind, rf"\s*(?:{pattern})") for kind, pattern in own]
    return LinePatterns((*mine, *shared), comment, has_braces=has_braces)


def only(*own: tuple[str, str], comment: str, has_braces: bool = False) -> LinePatterns:
    """Return patterns of a language which shares no keyword with others; see `patterns_of`."""
    return LinePatterns(own, comment, has_braces=has_braces)


_WORD = r"(?P<name>[A-Za-z_]\w*)"
_APEX = r"(?i:\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:(?:public|private|global|protected|virtual|abstract|static|override|with|"
_APEX += r"without|inherited|sharing|transient|final|testmethod)\s+)+)"
_CAPABILITY = r"(?:(?:val|ref|iso|box|trn|tag)\s+)?"
PACK_LINES: Mapping[str, LinePatterns] = {
    "rego": only(
        (
            "function",
            r"(?:default\s+)?(?P<name>(?!(?:package|import|else|default)\b)[a-z_]\w*)\s*(?:[\[({]|:?=|contains\b|if\b)",
        ),
        comment=r"\s*#",
    ),
    "purescript": only(
        ("type", r"(?:data|newtype|type)\s+(?P<name>[A-Z]\w*)"),
        ("interface", r"class\s+(?:.*<=\s*)?(?P<name>[A-Z]\w*)"),
        ("function", r"(?:foreign\s+import\s+|\s+)?(?P<name>[a-z_][\w']*)\s*::"),
        comment=r"\s*(?:--|\{-)",
    ),
    "apex": only(
        ("class", rf"{_APEX}(?i:class)\s+(?P<name>\w+)"),
        ("interface", rf"{_APEX}(?i:interface)\s+(?P<name>\w+)"),
        ("enum", rf"{_APEX}(?i:enum)\s+(?P<name>\w+)"),
        ("function", rf"{_APEX}(?:[\w<>,.\[\]]+\s+)*(?P<name>\w+)\s*\([^=;]*$"),
        ("function", r"(?i:trigger)\s+(?P<name>\w+)\s+on\b"),
        comment=r"\s*(?://|/\*|\*(?!\w))",
        has_braces=True,
    ),
    "qml": only(
        ("function", r"\s*function\s+(?P<name>\w+)"),
        ("property", r"\s*(?:default\s+|readonly\s+|required\s+)*property\s+[\w.<>]+\s+(?P<name>\w+)"),
        ("property", r"\s*signal\s+(?P<name>\w+)"),
        comment=r"\s*(?://|/\*|\*(?!\w))",
        has_braces=True,
    ),
    "v": patterns_of(("function", r"(?:pub\s+)?fn\s+(?:\([^)]*\)\s*)?(?P<name>[\w.]+)")),
    "pony": only(
        ("class", rf"(?:class|actor|primitive|struct)\s+{_CAPABILITY}(?P<name>\w+)"),
        ("interface", rf"(?:trait|interface)\s+{_CAPABILITY}(?P<name>\w+)"),
        ("type", r"type\s+(?P<name>\w+)"),
        ("function", rf"\s+(?:fun|be|new)\s+{_CAPABILITY}(?P<name>\w+)"),
        comment=r"\s*(?://|/\*)",
    ),
}
"""Patterns of languages with a grammar in the pack, for installations without it."""

OWN_LINES: Mapping[str, tuple[Sequence[str], LinePatterns]] = {
    "haxe": ((".hx",), patterns_of()),
    "vala": ((".vala", ".vapi"), patterns_of()),
    "zephir": ((".zep",), patterns_of()),
    "raku": ((".raku", ".rakumod", ".pm6", ".p6"), patterns_of(("class", rf"(?:my\s+)?(?:role|grammar)\s+{_NAME}"))),
    "cue": ((".cue",), only(("type", r"(?P<name>#\w+)\s*:"), comment=r"\s*//", has_braces=True)),
    "awk": (
        (".awk", ".gawk"),
        only(
            ("function", rf"\s*func(?:tion)?\s+{_NAME}"),
            ("rule", r"(?P<name>BEGIN|END)\s*\{"),
            comment=r"\s*#",
            has_braces=True,
        ),
    ),
    "prolog": (
        (".prolog",),
        only(
            ("module", r":-\s*module\(\s*(?P<name>\w+)"),
            ("function", r"(?P<name>[a-z]\w*)\s*(?:\([^%]*?\))?\s*(?::-|-->)"),
            comment=r"\s*%",
        ),
    ),
    "reason": (
        (".re", ".rei", ".res", ".resi"),
        only(
            ("module", rf"\s*module\s+(?:type\s+|rec\s+)?{_WORD}"),
            ("type", rf"\s*(?:and|type)\s+(?:rec\s+|nonrec\s+)?{_WORD}"),
            (
                "function",
                rf"\s*(?:@[\w.]+(?:\([^()]*\))?\s*)*let\s+(?:rec\s+)?{_WORD}\s*(?::[^=]*)?=\s*(?:async\s+)?(?:\(|\w+\s*=>)",
            ),
            ("function", rf"\s*(?:@[\w.]+(?:\([^()]*\))?\s*)*external\s+{_WORD}"),
            ("variable", rf"let\s+{_WORD}\s*[:=]"),
            comment=r"\s*(?://|/\*)",
            has_braces=True,
        ),
    ),
    "sml": (
        (".sml", ".sig"),
        only(
            ("module", rf"\s*(?:structure|signature|functor)\s+{_WORD}"),
            ("type", rf"\s*(?:datatype|type|eqtype|exception)\s+(?:'\w+\s+|\([^()]*\)\s+)?{_WORD}"),
            ("function", r"\s*(?:fun|and)\s+(?:'\w+\s+)?(?P<name>[A-Za-z_][\w']*)"),
            comment=r"\s*\(\*",
        ),
    ),
    "cobol": (
        (".cob", ".cbl", ".cpy", ".cobol"),
        only(
            ("module", r"(?i:.{0,7}\s*PROGRAM-ID\.\s+)(?P<name>[\w-]+)"),
            ("section", r"(?:.{6} |\s*)(?P<name>[\w-]+)\s+(?i:SECTION)\s*\."),
            ("struct", r"(?:.{6} |\s*)(?:01|77)\s+(?P<name>(?!(?i:FILLER))[\w-]+)"),
            ("function", r".{6} (?P<name>(?!(?i:EXIT|STOP|GOBACK|END|ELSE|CONTINUE)\b)[\w-]+)\.\s*$"),
            comment=r".{6}[*/]",
        ),
    ),
    "typst": (
        (".typ",),
        only(
            ("section", r"=+\s+(?P<name>\S.{0,120})"),
            ("function", r"#let\s+(?P<name>[\w-]+)\("),
            ("variable", r"#let\s+(?P<name>[\w-]+)\s*="),
            comment=r"\s*//",
        ),
    ),
    "wat": (
        (".wat", ".wast"),
        only(
            ("function", r"\s*\(func\s+(?P<name>\$[^\s()]+)"),
            ("variable", r"\s*\((?:global|memory|table)\s+(?P<name>\$[^\s()]+)"),
            ("type", r"\s*\(type\s+(?P<name>\$[^\s()]+)"),
            comment=r"\s*;;",
        ),
    ),
    "llvm": (
        (".ll",),
        only(
            ("function", r"define\s[^@]*@(?P<name>[\w.$-]+|\"[^\"]+\")\("),
            ("variable", r"@(?P<name>[\w.$-]+)\s*="),
            ("type", r"%(?P<name>[\w.$-]+)\s*=\s*type\b"),
            comment=r"\s*;",
            has_braces=True,
        ),
    ),
    "assembly": (
        (".s", ".asm"),
        only(
            ("function", r"TEXT\s+(?P<name>[^\s(<,]+)"),
            ("macro", r"\s*(?:\.macro|%macro)\s+(?P<name>\w+)"),
            ("label", r"(?P<name>[A-Za-z_$?@][\w$?@.]*):"),
            ("function", r"(?P<name>\w+)\s+(?i:PROC)\b"),
            comment=r"\s*(?:[#;@]|//|/\*)",
        ),
    ),
    "m4": (
        (".m4",),
        only(
            (
                "macro",
                r"\s*(?:A[CU]_DEFUN(?:_ONCE)?|AC_DEFUN_ONCE|m4_define|m4_defun|define)\(\s*[\[`]*(?P<name>[\w.]+)",
            ),
            comment=r"\s*(?:#|dnl\b)",
        ),
    ),
    "gherkin": (
        (".feature",),
        only(
            ("scenario", r"\s*(?:Scenario(?: Outline| Template)?|Example|Background|Rule)\s*:\s*(?P<name>\S.{0,150})"),
            ("feature", r"\s*(?:Feature|Business Need|Ability)\s*:\s*(?P<name>\S.{0,150})"),
            comment=r"\s*#",
        ),
    ),
    "robot": (
        (".robot",),
        only(("section", r"\*+\s*(?P<name>[\w ]+?)\s*\*+"), ("test", r"(?P<name>[A-Z]\S.{0,120})"), comment=r"\s*#"),
    ),
    "meson": (
        (),
        only(
            (
                "target",
                r"(?:\w+\s*=\s*)?(?:executable|library|shared_library|static_library|custom_target|test|benchmark|project|option|subdir)\s*\(\s*'(?P<name>[^']+)'",
            ),
            ("variable", rf"{_WORD}\s*=(?!=)"),
            comment=r"\s*#",
        ),
    ),
    "diff": (
        (".diff", ".patch"),
        only(("file", r"diff --git \S+ b/(?P<name>\S+)"), comment=r"(?!)"),
    ),
    "spec": (
        (".spec",),
        only(
            (
                "section",
                r"%(?P<name>(?:package|description|prep|build|install|check|files|changelog|pre|post|preun|postun)\b.{0,60})",
            ),
            ("variable", r"%(?:global|define)\s+(?P<name>\w+)"),
            comment=r"\s*#",
        ),
    ),
    "nushell": ((".nu",), patterns_of()),
    "gml": ((".gml",), patterns_of()),
    "applescript": (
        (".applescript",),
        only(("function", r"\s*(?:on|to)\s+(?P<name>(?!error\b)[\w]+)\s*(?:\(|$)"), comment=r"\s*--"),
    ),
    "lean": (
        (".lean",),
        only(
            ("module", r"\s*(?:namespace|section)\s+(?P<name>[\w.']+)"),
            (
                "function",
                r"\s*(?:@\[[^\]]*\]\s*)?(?:(?:private|protected|noncomputable|partial|unsafe|scoped|local)\s+)*(?:def|theorem|lemma|abbrev|instance|axiom|opaque|example)\s+(?P<name>[^\s:({\[]+)",
            ),
            ("struct", r"\s*(?:@\[[^\]]*\]\s*)?(?:structure|class|inductive)\s+(?P<name>[\w.']+)"),
            comment=r"\s*--",
        ),
    ),
    "idris": (
        (".idr",),
        only(
            ("type", rf"\s*(?:data|record|interface)\s+{_WORD}"),
            ("function", r"(?P<name>[a-z_][\w']*)\s*:(?!:)"),
            comment=r"\s*--",
        ),
    ),
    "coq": (
        (),
        only(
            (
                "function",
                r"\s*(?:(?:Local|Global|Program|#\[[^\]]*\])\s+)*(?:Theorem|Lemma|Definition|Fixpoint|CoFixpoint|Corollary|Proposition|Fact|Remark|Example|Instance|Axiom|Ltac)\s+(?P<name>[\w']+)",
            ),
            ("type", r"\s*(?:Inductive|CoInductive|Record|Class|Structure)\s+(?P<name>[\w']+)"),
            ("module", r"\s*(?:Module(?:\s+Type)?|Section)\s+(?P<name>[\w']+)"),
            comment=r"\s*\(\*",
        ),
    ),
    "kotlinabi": (
        (),
        only(
            ("class", r"public\s+(?:\w+\s+)*(?:class|interface|annotation)\s+(?P<name>[\w/$]+)"),
            ("function", r"\s+public\s+(?:\w+\s+)*fun\s+(?P<name>[\w<>$-]+)"),
            comment=r"\s*//",
            has_braces=True,
        ),
    ),
}
"""Suffixes and patterns of languages without a grammar, by name."""

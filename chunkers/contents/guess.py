"""Guess a text's language by its content, where its suffix has several or is unknown."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from cqm.chunkers.model import later

CODE = "code"
"""The language of a program in an unknown language."""

_HEAD = 16_000
"""Characters looked at."""


def _lines(pattern: str) -> re.Pattern[str]:
    return later(rf"^[ \t]{{0,40}}(?:{pattern})", re.MULTILINE)


_OBJC = _lines(
    r"@(?:interface|implementation|protocol|import|class|end|property)\b|#[ \t]*(?:import|include|define)\b|//|/\*"
)
_OBJC_TYPE = _lines(r"@(?:interface|implementation|protocol)\b")
_CPP = later(
    r"^[ \t]*(?:class|namespace|template|enum class)\b[^;\n]*$|\w[ \t]*&(?:[ \t]*\w+)?[ \t]*[,)]", re.MULTILINE
)
_XML = later(r"\A\s{0,100}<(?:\?xml|!DOCTYPE TS)\b")
_C = _lines(r"#[ \t]*(?:include|define|if|ifdef|ifndef|pragma)\b")

_QUERY = later(
    r"""^;+[ \t]*inherits[ \t]*:|^[^;"\n]{0,300}[)\]_"*+?][ \t]{1,9}@[a-z][\w.-]*(?=[\s)])"""
    r"|^[ \t)\]]*[)\]]@[a-z]\w*\.",
    re.MULTILINE,
)
"""Lines of queries of syntax trees: `(comment) @injection.content`."""

SUFFIXES: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]] = MappingProxyType(
    {
        ".api": (("kotlinabi", _lines(r"public (?:abstract |final |static )*(?:class|interface) [\w/$]+ .*\{$")),),
        ".as": (("actionscript", _lines(r"package\b|import [\w.]+;")),),
        ".cl": (("c", _lines(r"(?:__)?kernel\s|#(?:pragma OPENCL|define|if)|__(?:global|constant)\b")),),
        ".cls": (
            ("latex", _lines(r"\\(?:NeedsTeXFormat|ProvidesClass|LoadClass|RequirePackage|newcommand)\b")),
            ("visualbasic", _lines(r"VERSION 1\.0 CLASS|Attribute VB_|Option Explicit")),
            ("objectscript", _lines(r"Class [%\w.]+ (?:Extends|\[|\{)")),
            (
                "apex",
                _lines(
                    r"(?:@\w+\s+)?(?:public|private|global|virtual|with sharing)\b.{0,80}\b(?:class|interface|enum)\b"
                ),
            ),
        ),
        ".d": (
            ("dtrace", _lines(r"[\w*]*:[\w*]*:[\w*]*:\w+|#!.*dtrace")),
            ("make", later(r"\A[^\s:]+\.l?[od]\b[^:\n]*:")),
        ),
        ".f": (
            (CODE, _lines(r"\+(?:define|incdir|libext)\+|-(?:sv|uvmhome|timescale)\b|\S+\.svh?\s*$|\$\{\w+\}/\S+\s*$")),
        ),
        ".h": (
            ("fortran", later(r"^ {6,20}(?:common|COMMON)[ \t]*/[ \t]*\w+[ \t]*/", re.MULTILINE)),
            ("assembly", _lines(r"\.(?:macro|endm|globl|global|extern|section)\b|\w+[ \t]+(?:MACRO|macro)[ \t]*$")),
        ),
        # A program in the editor's format, with pictures.
        ".rkt": (("text", later(r"\A#reader\(lib ?\"read\.ss\" ?\"wxme\"\)")),),
        ".fs": (
            ("glsl", _lines(r"#version \d|precision \w+ float;|(?:varying|uniform) \w+ |void main\s*\(")),
            ("forth", later(r"^: \S+\s+(?:\( |[^=\n]* ;$)", re.MULTILINE)),
        ),
        ".inc": (
            ("php", later(r"<\?(?:php|=)")),
            ("c", _C),
            ("pascal", _lines(r"\{\$\w|(?:procedure|function)\s+\w+.*;\s*$")),
            ("assembly", _lines(r"\.(?:macro|section|globl|equ)\b|%(?:macro|define)\b|\w+:?\s+(?:equ|db|dw)\s")),
        ),
        ".m": (
            ("objc", _OBJC),
            ("wolfram", later(r"\A\s{0,100}\(\*|^\w+\[[\w_, ]*\]\s*:=", re.MULTILINE)),
            (
                "matlab",
                _lines(r"function\b(?!\s*\()|classdef\b|%|\.\.\.$|(?:clc|clear|close all|figure|hold on|end)\s*;?\s*$"),
            ),
            ("matlab", _lines(r"\[?[A-Za-z][\w,. ]*\]?\s*=\s*[^=;{}\n]+;?[ \t]*(?:%.*)?$")),
        ),
        ".mod": (("gomod", _lines(r"module\s+\S+/\S+\s*$")),),
        ".p": (
            ("pascal", _lines(r"(?:program|unit|procedure)\s+\w+\s*[(;]")),
            ("gnuplot", _lines(r"(?:set (?:terminal|output|xlabel|title)|s?plot)\b")),
        ),
        ".pl": (("prolog", _lines(r":-\s*\w|[a-z]\w*\([^()\n]{0,200}\)\s*:-")),),
        ".def": (
            ("c", _C),
            ("c", _lines(r"[A-Z_]{3,40}\(.{0,200}\),?;?[ \t]*$")),
            ("ini", _lines(r"(?:EXPORTS|LIBRARY)\b")),
        ),
        ".import": (("ini", _lines(r"\[\w+\][ \t]*$")),),
        ".map": (("json", later(r"\A\s{0,100}\{")),),
        ".scm": (("treesitterquery", _QUERY),),
        ".snap": (("javascript", _lines(r"exports\[`")),),
        ".pp": (("puppet", _lines(r"(?:class|define|node) [\w:']+\s*(?:\(|\{|inherits)|#\s*@summary")),),
        ".pro": (
            ("qmake", _lines(r"(?:QT|SOURCES|HEADERS|TEMPLATE|TARGET|CONFIG)\s*[+*]?=")),
            ("prolog", _lines(r":-\s*\w|[a-z]\w*\([^()\n]{0,200}\)\s*:-")),
        ),
        ".r": (("rebol", _lines(r"REBOL\s*\[")),),
        # Smalltalk and templates have the suffix, too.
        ".st": (
            (
                "structuredtext",
                _lines(r"(?:FUNCTION_BLOCK|FUNCTION|PROGRAM|INTERFACE|METHOD|NAMESPACE)[ \t]+\w|VAR_GLOBAL\b|TYPE\b"),
            ),
        ),
        ".ts": (("xml", _XML),),
        ".v": (
            (
                "coq",
                _lines(r"(?:From \S+ )?Require (?:Import|Export)?\b|(?:Theorem|Lemma|Proof|Qed|Fixpoint|Inductive)\b"),
            ),
            (
                "v",
                _lines(
                    r"(?:pub )?fn (?:\(.{1,60}\) )?(?:C\.|JS\.)?\w+(?:\[\w+\])?\(|module main\s*$"
                    r"|import \w+(?:\.\w+)*\s*$"
                    r"|pub (?:const|enum|struct|union|interface|type) \w|#(?:flag|include|pkgconfig) |__global\b"
                    r"|const \w+ = |(?:struct|enum|interface) (?!packed\b)\w+ \{"
                ),
            ),
        ),
    }
)
"""Languages of a suffix, each with telling lines; the first with any wins, else the suffix's own language."""

MORE = {
    **dict.fromkeys((".bat", ".cmd"), "batch"),
    **dict.fromkeys((".cob", ".cbl", ".cpy", ".cobol"), "cobol"),
    **dict.fromkeys((".jsp", ".jspx", ".jspf", ".tag", ".asp", ".aspx", ".ascx", ".cfm", ".ftl"), "template"),
    **dict.fromkeys((".jsonnet", ".libsonnet"), "jsonnet"),
    **dict.fromkeys((".gd",), "gdscript"),
    **dict.fromkeys((".pyx", ".pxd", ".pxi"), "cython"),
    **dict.fromkeys((".raku", ".rakumod", ".pm6", ".p6"), "raku"),
    **dict.fromkeys((".sml", ".sig"), "sml"),
    **dict.fromkeys((".vala", ".vapi"), "vala"),
    **dict.fromkeys((".wat", ".wast"), "wat"),
    **dict.fromkeys((".hx", ".hxml"), "haxe"),
    **dict.fromkeys((".plsql", ".pks", ".pkb"), "plsql"),
    ".abap": "abap",
    ".agda": "agda",
    ".ahk": "autohotkey",
    ".applescript": "applescript",
    ".au3": "autoit",
    ".cairo": "cairo",
    ".capnp": "capnp",
    ".cfc": "coldfusion",
    ".cls": CODE,
    ".cue": "cue",
    ".cypher": "cypher",
    ".dhall": "dhall",
    ".ebnf": "ebnf",
    ".fbs": "flatbuffers",
    ".feature": "gherkin",
    ".fth": "forth",
    ".gml": "gml",
    ".idr": "idris",
    ".inc": CODE,
    ".kdl": "kdl",
    ".lean": "lean",
    ".lds": "linkerscript",
    ".ll": "llvm",
    ".m4": "m4",
    **dict.fromkeys((".metal", ".msl"), "cpp"),
    **dict.fromkeys((".godot", ".tscn", ".tres", ".dof"), "ini"),
    ".move": "move",
    ".odin": "odin",
    ".pde": "processing",
    ".pkl": "pkl",
    ".pony": "pony",
    ".qml": "qml",
    ".qmltypes": "qml",
    ".rego": "rego",
    ".rl": "ragel",
    ".robot": "robot",
    ".ron": "ron",
    ".scad": "openscad",
    ".sed": "sed",
    ".smithy": "smithy",
    ".stan": "stan",
    ".tla": "tla",
    ".typ": "typst",
    ".usda": "usd",
    ".xq": "xquery",
    ".xquery": "xquery",
    ".zep": "zephir",
}
"""Languages without a row, by suffix: all of them code."""

NAMES = {
    **dict.fromkeys(("BUILD", "WORKSPACE", "BUCK", "Tiltfile"), "starlark"),
    **dict.fromkeys(("SConstruct", "SConscript", "Snakefile", "wscript"), "python"),
    **dict.fromkeys(("PKGBUILD", "APKBUILD", ".envrc"), "bash"),
    **dict.fromkeys(("Kbuild", "BSDmakefile"), "make"),
    **dict.fromkeys(("Earthfile", "Caddyfile", "Procfile", "Kconfig", "dune", "dune-project"), CODE),
}
"""Whole names, in their case: a file named "build" is most often a script."""

# Tags of `identify` for suffixes of no programs.
_NO_CODE = frozenset(
    {"text", "plain-text", "binary", "pofile", "ics", "vcard", "eps", "bib", "pem", "csv", "tsv", "diff"}
)

_OTHER_TAGS = {"dotenv": "properties", "msbuild": "xml", "sln": "ini"}
_BEGINNING = later(r"\s{0,100}<(?:\?xml\b|(?P<html>!doctype html\b|html\b))", re.IGNORECASE)

_CODE_LINE = later(
    r"""(?:.*\)\s*(?:do|then|\{|=>)?|.*\b(?:do|then|begin|->|=>)|\s*end\b.*|.*=\s*[\[({'"0-9].*
      |\s*(?:def|func|fn|fun|function|class|struct|enum|module|import|from|package|use|using|namespace|let|var|const
         |return|if|else|elif|for|while|sub|proc|type|interface|include|require|local|public|private|static)\b.*[\w(){}:=<>"'*.]
      |\s*(?://|/\*|\*\s|\#\s*(?:include|define|if|end)|--\s|;).*)\s*""",
    re.VERBOSE,
)
_ENDS_CODE = (";", "{", "}")
_SENTENCE = later(r"\s*(?:[-*]\s+)?[A-Z][a-z]+(?:\s+[\w',()-]+){4,}[.:?!]?\s*")
_LEAST_LINES = 3
_LEAST_SHARE = 0.4
_SHARE_WITHOUT_SUFFIX = 0.7
_MOST_SENTENCES = 0.1
_LONGEST_LINE = 400


def by_suffix(suffix: str, language: str, head: str) -> str:
    """Return the language of a text by its suffix, and for a suffix with several by its content.

    Parameters:
        suffix: in lower case, with its dot.
        language: of the suffix; also the answer where nothing tells of another.
    """
    if suffix == ".mm" and language == "objc":
        # The grammar of Objective-C knows no classes of C++; of a text with both, each part has its own.
        return "cpp" if _CPP.search(head) and not _OBJC_TYPE.search(head) else language
    rows = SUFFIXES.get(suffix, ()) if head else ()
    return next((name for name, pattern in rows if pattern.search(head[:_HEAD])), language)


def by_content(suffix: str, head: str) -> str:
    """Return the language of a text with an unknown suffix, or none: CODE if it is some program; empty if not."""
    if started := _BEGINNING.match(head):
        return "html" if started["html"] else "xml"
    if suffix and head:
        from identify.extensions import EXTENSIONS  # few files have such a suffix

        tags: set[str] = EXTENSIONS.get(suffix[1:], set())
        if tags and not tags & (_NO_CODE - {"text"}):
            tag = min(tags - {"text"}, default="")
            return _OTHER_TAGS.get(tag, tag)
    lines = [line[:_LONGEST_LINE] for line in head[:_HEAD].split("\n") if line.strip()]
    if len(lines) < _LEAST_LINES:
        return ""
    sentences = sum(_SENTENCE.fullmatch(line) is not None for line in lines)
    if sentences > _MOST_SENTENCES * len(lines):
        return ""
    like_code = sum(line.rstrip().endswith(_ENDS_CODE) or _CODE_LINE.fullmatch(line) is not None for line in lines)
    return CODE if like_code >= (_LEAST_SHARE if suffix else _SHARE_WITHOUT_SUFFIX) * len(lines) else ""


_HEADING = later(r"(#{1,6}) +\S[^\n]{0,200}")
_FENCE = later(r"(?:```|~~~)[\w+-]*\s*")
_MARKED = later(r"\s*(?:[-*+] |\d+\. |\||> )|.*(?:\*\*\S|\]\(\S|`\S)")
_LEAST_HEADINGS = 2
_MOST_HEADINGS = 0.5


def is_markdown(text: str) -> bool:
    """Tell if a text of another name is Markdown: headings of two levels between blank lines, and other marks of it.

    Comments of a file of settings begin with a "#" too; there none stands alone between blank lines at a lower level.
    """
    head = text[:_HEAD]
    # Nearly all texts end here.
    if f"\n{head}".count("\n#") < _LEAST_HEADINGS:
        return False
    lines = head.split("\n")
    levels, marks, filled, in_fence = list[int](), 0, 0, False
    for before, line in zip(["", *lines], lines, strict=False):
        filled += bool(line.strip())
        if _FENCE.fullmatch(line):
            in_fence = not in_fence
            marks += 1
        elif in_fence:
            continue
        elif heading := _HEADING.fullmatch(line.rstrip()):
            if before.strip():
                return False
            levels.append(len(heading[1]))
        else:
            marks += _MARKED.match(line[:_LONGEST_LINE]) is not None
    return len(levels) >= _LEAST_HEADINGS and max(levels) > 1 and marks > 0 and len(levels) <= _MOST_HEADINGS * filled

"""Blank calls of macros, and types in their arguments, in texts unreadable to the grammars of C and C++."""

import re
from itertools import pairwise

from cqm.chunkers.languages.model import blank, blanked
from cqm.chunkers.model import later
from cqm.chunkers.recovery.branches import without

_TEXT = rb"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\[^\n]{1,4}?)'"
_PLAIN = rb"[^()\"';{}#]"


def _arguments(depth: int) -> bytes:
    """Make a pattern of a call's arguments, brackets of some depth, in one pass without a way back."""
    inner = b"" if depth == 0 else b"|" + _arguments(depth - 1)
    return rb"\((?:" + _PLAIN + rb"++|" + _TEXT + rb"|\{(?:[^{}\"';#]|" + _TEXT + rb")*+\}" + inner + rb")*+\)"


_ARGUMENTS = _arguments(3)
_NOTE = rb"(?:[ \t]*(?://[^\n]*+|/\*[^*\n]*+\*/))?"
# "TEST_DECLARE (tcp_flags)" in a row of its own; below "JNIEXPORT_(int)" may stand the declared name.
_ROW = later(
    rb"\n(?<!\\\n)[ \t]*+(?P<macro>[A-Z][A-Z0-9]*_[A-Z0-9_]*+[ \t]*" + _ARGUMENTS + rb")(?=" + _NOTE + rb"[ \t]*\r?\n"
    rb"(?:[ \t]*\r?\n|[ \t]*//[^\n]*+\n)*+[ \t]*(?:[A-Z_][A-Z0-9_]*+\b|(?![a-z_]\w*+[ \t]*\()[A-Za-z~#/}]|\Z))"
)
# Two such rows and more with nothing but comments and directives between, in any letters: "VARx(int, count)".
_CALL_OF_ROW = later(
    rb"\n(?<!\\\n)[ \t]*+(?P<macro>(?P<name>[A-Za-z_]\w*+)[ \t]*" + _ARGUMENTS + rb")" + _NOTE + rb"[ \t]*\r?(?=\n|\Z)"
)
_BETWEEN = later(rb"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|#[^\n]*+)*+")
_NO_NAMES = frozenset(b"if while for switch return sizeof defined".split())


def without_rows_of_calls(source: bytes) -> bytes:
    """Blank calls of macros in rows of their own, without a semicolon."""
    source = _ROW.sub(_blanked_macro, b"\n" + source)
    calls = [it for it in _CALL_OF_ROW.finditer(source) if it["name"] not in _NO_NAMES]
    joined = [_BETWEEN.fullmatch(source, one.end(), two.start()) is not None for one, two in pairwise(calls)]
    spans = [
        it.span("macro")
        for it, above, below in zip(calls, [False, *joined], [*joined, False], strict=False)
        if above or below
    ]
    return without(source, spans)[1:]


def _blanked_macro(found: re.Match[bytes]) -> bytes:
    start, end = (it - found.start() for it in found.span("macro"))
    return found[0][:start] + blank(found["macro"]) + found[0][end:]


# Brackets are found in a tenth of the time of capitals.
_CALL = later(rb"\((?<=[A-Z0-9_]{3}\()" + _ARGUMENTS[2:])
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_NO_MACRO = later(rb"[\w.>]")
_LEAST_NAME, _LONGEST_NAME = 3, 100
_WORD = rb"[A-Za-z_]\w*+(?:::\w+)*+(?:<[^<>;(){}\"]*(?:<[^<>;(){}\"]*>[^<>;(){}\"]*)*+>)?(?:::\w+)*+"
_TYPE = later(
    rb"(?P<before>[(,]\s*)(?P<words>(?:(?:const|volatile|struct|union|enum|typename|class|unsigned|signed|long|short)\s+)*+)"
    rb"(?P<name>" + _WORD + rb")(?P<signs>\s*+(?:const\b|[*&]|\s)*+)(?=[,)])"
)
_BUILT_IN = later(
    rb"void|bool|char|short|int|long|float|double|unsigned|signed|(?:u?int(?:8|16|32|64|ptr)|s?size|ptrdiff|char(?:8|16|32))_t"
)


def without_types_in_calls(source: bytes) -> bytes:
    """Write names for types among the arguments of macros: "CHECK_THROWS_AS(run(), std::exception&)"."""
    return _CALL.sub(_with_names, source)


def _with_names(found: re.Match[bytes]) -> bytes:
    # From the end, the name is found in a tenth of the time of a search.
    row = found.string[max(found.start() - _LONGEST_NAME, 0) : found.start()]
    before = row.rstrip(_CAPITALS)
    name = row[len(before) :]
    is_macro = len(name) >= _LEAST_NAME and name[:1].isalpha() and _NO_MACRO.match(before[-1:]) is None
    return _TYPE.sub(_as_name, found[0]) if is_macro and (before or len(row) < _LONGEST_NAME) else found[0]


def _as_name(found: re.Match[bytes]) -> bytes:
    name = found["name"]
    if _BUILT_IN.fullmatch(name):
        name = name[:-1] + b"_"
    return found["before"] + blank(found["words"]) + name + blank(found["signs"])


# "void Text(const char* fmt, ...) IM_FMTARGS(1);" with two words before the bracket, none of them a statement's.
_AFTER_PROTOTYPE = later(
    rb"\n[ \t]*+(?!(?:else|return|case|goto|throw|delete|new|using|typedef|do)\b)"
    rb"(?:[A-Za-z_][\w:<>,]*+[ \t*&]+)++(?<=[ \t*&])(?!(?:if|while|for|switch)\b)[A-Za-z_~][\w:]*+[ \t]*+"
    + _arguments(1)
    + rb"[ \t]*+(?P<macro>(?:(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*+|__attribute__)(?:[ \t]?"
    + _arguments(1)
    + rb")?[ \t]*+){1,4})(?=;)"
)
# "  UV_HANDLE_FIELDS" in a struct.
_AFTER_BRACKET = later(rb"\)[ \t]*+[A-Z][A-Z0-9]*_[A-Z0-9_]*+[ \t]*+[(;A-Z_]")
_ALONE = later(rb"\n[ \t]++[A-Z][A-Z0-9]*_[A-Z0-9_]*+[ \t]*+\r?(?=\n)")
"""Without one, the pattern above or below matches nothing."""
_IN_STRUCT = later(
    rb"(?:(?:struct|union|class)[ \t][^\n;(){}=]*+\{|;)"
    + _NOTE
    + rb"[ \t]*\r?(?P<macro>(?:\n[ \t]+[A-Z][A-Z0-9]*_[A-Z0-9_]*+"
    rb"[ \t]*\r?(?=\n))+)(?=\s*(?:[A-Za-z/}#]))"
)
# "template(typename T)(requires range<T>)" of libraries with concepts for older compilers.
_TEMPLATE = later(
    rb"template(?<!\wtemplate)(?P<open>\()(?P<inside>"
    + _ARGUMENTS[2:-2]
    + rb")(?P<close>\))(?P<further>\s*+"
    + _ARGUMENTS
    + rb")"
)
_USING = later(rb"using(?<!\wusing)[ \t]+(?P<macro>typename)(?=[ \t])")
_ASSEMBLY = later(rb"__asm(?<!\w__asm)(?:__)?\s*+(?P<inside>\{[^{}]*+\})")
# "long long:0;" and "char it:1 __attribute__((packed));".
_NAMELESS_BITS = later(rb":(?<=[a-z]:)[ \t]*0(?=[ \t]*(?:;|__attribute__))")
_AFTER_BITS = later(
    rb":(?!:)[^;:{}\n]{1,60}?(?P<macro>(?:[ \t]+__attribute__[ \t]*" + _arguments(2) + rb")+)(?=[ \t]*;)"
)


# "decltype(it.template get<T>(), void())", "it->operator[](1)", "it[typename Type::key(1)]".
_DECLTYPE = later(rb"decltype(?<!\wdecltype)[ \t]*(?P<inside>" + _ARGUMENTS + rb")")
_OPERATOR = later(rb"operator(?:(?<=->operator)|(?<=[\w)\]]\.operator))(?:\[\]|\(\)|[=!<>+*/&|^%~-]{1,3})(?=\()")
_DEPENDENT = later(rb"\[(?P<word>typename)(?=[ \t])")


def _with_name(found: re.Match[bytes]) -> bytes:
    text = found["inside"][1:-1]
    place = len(text) - len(text.lstrip())
    name = text[:place] + b"a" + blank(text[place + 1 :]) if place < len(text) else text
    return found[0][: -len(text) - 1] + name + b")"


def without_dependent_names(source: bytes) -> bytes:
    """Write plain names for operators called by name, and for names depending on parameters of a template."""
    if b"template(" in source:
        source = _TEMPLATE.sub(lambda it: b"template<" + it["inside"] + b">" + blank(it["further"]), source)
    source = _DECLTYPE.sub(_with_name, source)
    source = _OPERATOR.sub(lambda it: b"a" * len(it[0]), source)
    return _DEPENDENT.sub(blanked, source)


def without_macros_of_members(source: bytes) -> bytes:
    """Blank macros after prototypes and for fields of a struct, and rare extensions of compilers."""
    if _AFTER_BRACKET.search(source):
        source = _AFTER_PROTOTYPE.sub(blanked, source)
    if _ALONE.search(source):
        source = _IN_STRUCT.sub(blanked, source)
    source = _ASSEMBLY.sub(lambda it: b";".ljust(it.start("inside") - it.start()) + blank(it["inside"]), source)
    source = _NAMELESS_BITS.sub(lambda it: b" " * len(it[0]), source)
    if b"__attribute__" in source:
        source = _AFTER_BITS.sub(blanked, source)
    return _USING.sub(blanked, source)

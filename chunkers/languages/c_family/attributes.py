"""Blank attributes without the marks of one: macros in small letters, as the Linux kernel has them, and those of C++.

Patterns begin with letters or signs, which are found several times as fast as classes of characters.
"""

import re

from cqm.chunkers.languages.model import blank, blanked
from cqm.chunkers.model import later

_ARGUMENTS = rb"(?:\((?:[^()]++|\([^()]*+\))*+\))"
_REST = (
    rb"(?<!\w__)(?!attribute|declspec|extension|typeof|asm\b|int\d|m\d|[bf]p?f?\d|float\d)[A-Za-z_]\w*+%s?" % _ARGUMENTS
)
_MORE = rb"(?:\s+__%s){0,8}" % _REST
# Many types are named as "struct __data {" is, and many fields as "} __data;": without a name only these count.
_KNOWN = (
    rb"(?:packed|(?:\w+_)?aligned(?:_\w+)?|(?:no_)?randomize_layout|designated_init|may_alias|ro_after_init)\b%s?"
    % _ARGUMENTS
)
_MORE_KNOWN = rb"(?:\s+__%s){0,8}" % _KNOWN
# In "struct __packed s {" the grammar takes the attribute for the name, and the name for a function's.
_OF_TYPE = later(
    rb"(?P<macro>__(?:(?:(?<=struct __)|(?<=union __)|(?<=enum __)|(?<=class __))"
    rb"(?:%s%s(?=\s+\w+(?:\s+final)?\s*(?:\{|:\s*(?:public|protected|private|virtual)\b))|%s%s(?=\s*\{))"
    rb"|(?<=\} __)(?:%s%s(?=\s*;)|%s%s(?=\s+\w+\s*[;,=\[]))"
    rb"|(?<=\] __)%s%s(?=\s*[=;])))"
    % (_REST, _MORE, _KNOWN, _MORE_KNOWN, _KNOWN, _MORE_KNOWN, _REST, _MORE, _REST, _MORE)
)
# The grammar takes the type of an enum without a name for its name.
_BASE_OF_ENUM = later(rb"enum(?<!\wenum)\s*+(?P<macro>:\s*+[A-Za-z_][\w: \t]*+)(?=\s*\{)")
_TYPE_FOLLOWS = (
    rb"(?=\s+(?:(?:static|inline|extern|struct|union|enum|class|void|bool|char|short|int|long|float|double|unsigned"
    rb"|signed)\b|(?:const\s+)?(?!__|const\b)[A-Za-z_]\w*+(?:\s[\s*]*|\*[\s*]*)[A-Za-z_]\w*+\s*[(=;\[]))"
)
_BEFORE_TYPE = tuple(
    later(rb"(?P<macro>%s%s)%s" % (first, _MORE, _TYPE_FOLLOWS))
    for first in (
        rb"__" + _REST,
        rb"asmlinkage\b(?<!\wasmlinkage)",
        rb"no(?<!\wno)(?:inline\w*|trace|instr|kprobe_inline)\b",
    )
)
_NAME = rb"(?!const\b|noexcept\b|override\b|final\b)[A-Za-z_]\w*+"
_BEFORE_NAME = later(rb"__%s(?P<further>%s)(?=\s[\s*]*%s\s*[(=;\[])" % (_REST, _MORE, _NAME))
_AFTER_NAME = later(rb"__%s%s(?=\s*[=;])" % (_REST, _MORE))
_TYPE = later(rb"(?:(?P<word>[A-Za-z_]\w*+)|\*[ \t]*const|[*>])[ \t]+\Z")
_TYPE_AND_NAME = later(rb"(?P<word>[A-Za-z_]\w*+)(?:[ \t]+\**|\*+)[ \t]*(?P<name>[A-Za-z_]\w*+)[ \t]+\Z")
_WORDS = b"static inline extern const volatile struct union enum class typedef register return case goto else operator"
_NO_TYPES = frozenset(_WORDS.split())
_NO_NAMES = _NO_TYPES | frozenset(b"void bool char short int long float double unsigned signed".split())
_LONGEST_TYPE = 100


def without_attributes_of_types(source: bytes) -> bytes:
    """Blank attributes as of "struct __packed s {" and "ids[] __initconst = {", and the type of a nameless enum."""
    return _BASE_OF_ENUM.sub(blanked, _OF_TYPE.sub(blanked, source))


def without_attributes(source: bytes) -> bytes:
    """Blank attributes before and after the types of declarations, in a text with errors."""
    for pattern in _BEFORE_TYPE:
        source = pattern.sub(_blanked_if_code, source)
    return _AFTER_NAME.sub(_without_last, _BEFORE_NAME.sub(_without_first, source))


def _row_before(found: re.Match[bytes]) -> bytes:
    place = found.start()
    first = max(0, place - _LONGEST_TYPE)
    return found.string[max(first, found.string.rfind(b"\n", first, place) + 1) : place]


def _blanked_if_code(found: re.Match[bytes]) -> bytes:
    return found[0] if b"#" in _row_before(found) else blanked(found)


def _without_first(found: re.Match[bytes]) -> bytes:
    """Blank all attributes if a type stands before them; else the first word may be the type."""
    row = _row_before(found)
    if b"#" in row:
        return found[0]
    kind = _TYPE.search(row)
    return blank(found[0]) if kind is not None and kind["word"] not in _NO_TYPES else blanked(found)


def _without_last(found: re.Match[bytes]) -> bytes:
    """Blank the attributes of "int count __read_mostly = 3;", but not the name in "unsigned long __count;"."""
    row = _row_before(found)
    before = _TYPE_AND_NAME.search(row) if b"#" not in row else None
    if before is None or before["word"] in _NO_TYPES or before["name"] in _NO_NAMES:
        return found[0]
    # In "void ITTAPI __itt_pause(void);" the macro is the one before.
    return found[0] if before["name"].isupper() and b"(" in found[0] else blank(found[0])


# "Y [[deprecated]] = 1" in an enum, and "class [[nodiscard]] alignas(16) Al {".
_OF_ENUMERATOR = later(rb"(?P<macro>\[\[[^\[\]]*+\]\])(?=\s*(?:[=,}]|alignas\b))")
_ALIGNED = later(rb"(?P<macro>alignas(?<!\walignas)[ \t]*%s)(?=\s+\w[\w:]*(?:\s+final)?\s*[{:])" % _ARGUMENTS)


def without_brackets(source: bytes) -> bytes:
    """Blank attributes of C++ unreadable to its grammar, in a text with errors."""
    return _ALIGNED.sub(blanked, _OF_ENUMERATOR.sub(blanked, source))


# The modules of C++20: "export module a.b:part;", "import std;", "export namespace n {".
_MODULE = later(rb"\n[ \t]*+(?P<macro>(?:export[ \t]+)?(?:module|import)(?:[ \t]*[:<\"]|[ \t]+\w)?[\w.:/ \t\">]*+;)")
_EXPORTED = later(rb"\n[ \t]*+(?P<macro>export)(?=[ \t]+(?!module\b|import\b)[A-Za-z_\[]|\s*\{)")


_WORDS_OF_MODULES = later(b"import"), later(b"module"), later(b"export")


def _begins_row(word: re.Match[bytes], source: bytes) -> bool:
    return not source[source.rfind(b"\n", 0, word.start()) + 1 : word.start()].strip(b" \t")


def without_modules(source: bytes) -> bytes:
    """Blank the declarations of modules and the word "export"."""
    if not any(_begins_row(it, source) for word in _WORDS_OF_MODULES for it in word.finditer(source)):
        return source
    return _EXPORTED.sub(blanked, _MODULE.sub(blanked, b"\n" + source))[1:]

"""Blank macros and other text unreadable to the grammars of C, C++ and Objective-C.

Patterns beginning with a character match four times as fast as those beginning with a position.
"""

import re

from cqm.chunkers.languages.model import blanked, blanked_at
from cqm.chunkers.model import later

# Macros alone ("FMT_BEGIN_NAMESPACE") or in a declaration ("FMT_EXPORT template", "class FMT_API writer").
_MACRO = later(
    rb"\n(?P<macro>[A-Z][A-Z0-9_]{3,})"
    rb"(?=[ \t]*\r?$| +(?:template|class|struct|enum|inline|constexpr|static|extern|auto|void|typedef|using)\b)",
    re.MULTILINE,
)
_ARGUMENTS = rb"(?:\((?:[^()\"]++|\"(?:[^\"\\\n]|\\.)*+\"|\([^()]*+\))*+\))"
# "class channel_t ZMQ_FINAL : public socket_base_t {": the grammar takes it for a function, without an error. "struct
# point ORIGIN_OF {ZERO, ZERO};" is a variable.
_AFTER_NAME = (
    rb"[A-Za-z_][\w:]*+(?:<[^<>;{}\n]{0,200}>)?\s+(?P<%b>[A-Z][A-Z0-9]*_[A-Z0-9_]*+)"
    rb"(?=\s*+(?::(?!:)\s*+[A-Za-z_]|\{\s*+[A-Za-z~][^{},;()]{0,200}+[;(]))"
)
_IN_HEAD = rb"%b(?<!\w%b) +(?:(?P<macro>(?:[A-Z][A-Z0-9_]{3,}%b? +)+)(?=\w)(?:%b)?|%b)"
_MACRO_IN_CLASS, _MACRO_IN_STRUCT = (
    later(_IN_HEAD % (word, word, _ARGUMENTS, _AFTER_NAME % b"behind", _AFTER_NAME % b"last"))
    for word in (b"class", b"struct")
)

_NAME_BEHIND = rb"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*+|__(?!attribute|asm|declspec|except|finally|try)[A-Za-z]\w*+)"
"""Name of a macro behind a function's head: in capitals, or with the underscores of compilers and libraries."""
# "void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION(mu_) {": the grammar takes the macro for the function. A statement such as
# "if (a) RUN(b);" looks like this too, so only names with the words of attributes count before a semicolon.
_MACRO_OF_FUNCTION = later(
    rb"\)(?:\s*(?:const|noexcept|override|final|&&?))*+\s*+(?=[A-Z_])"
    rb"(?:(?P<macro>(?:%s%s?\s*){1,6})(?=\{|requires\b)"
    rb"|(?P<attribute>(?:[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:LOCKS?|LOCKED|UNLOCK|UNLOCKED|REQUIRES?|REQUIRED|ACQUIRED?"
    rb"|RELEASED?|GUARDED|EXCLUDED?|EXCLUDES|ATTR|ATTRIBUTE|ATTRIBUTES|DEPRECATED|NOEXCEPT|NORETURN|PRINTF|FORMAT|NONNULL"
    rb"|ANALYSIS|AVAILABLE|UNAVAILABLE|WARN|UNUSED|MALLOC|PURE|CONST|COLD|HOT|LIFETIME)(?:_[A-Z0-9_]*+)?"
    rb"(?:[ \t]?%s)?\s*){1,6})(?=;))" % (_NAME_BEHIND, _ARGUMENTS, _ARGUMENTS)
)
# "char* end() KJ_LIFETIMEBOUND;", "void run(int) const MACRO(x);": no statement has such a row, so any macro counts.
_MACRO_OF_DECLARATION = later(
    rb"\)(?:(?<=\(\))|\s*(?:const|noexcept|override|final)\b(?:\s*(?:const|noexcept|override|final|&&?))*+)\s*+"
    rb"(?P<macro>(?:%s%s?\s*){1,6})(?=;)" % (_NAME_BEHIND, _ARGUMENTS)
)
# Both begin like this, and most files have neither.
_MACRO_AFTER_HEAD = later(rb"\)(?:\s*(?:const|noexcept|override|final|&&?))*+\s*+(?:[A-Z][A-Z0-9]*_|__[A-Za-z])")

# "Q_OBJECT" and "GENERATED_BODY()" before "public:": the grammar takes them for the type of a field called "public".
_ACCESS = tuple(
    later(word + rb"[ \t]*+:(?!:)")
    for word in (*(it + rb"\b[\w \t]{0,99}+" for it in (b"public", b"protected", b"private")), b"signals", b"Q_SIGNALS")
)
"""A word is found several times as fast as a choice of words."""
_ROWS_ABOVE = later(
    rb"(?P<macro>(?:\n[ \t]*+[A-Z][A-Z0-9_]{3,}(?:[ \t]?%s)?[ \t]*+\r?(?=\n)){1,40}+)\s*+\Z" % _ARGUMENTS
)
_LONGEST_ABOVE = 4_000
_END_OF_MACRO = later(rb"[A-Z0-9_)]\s*+\Z")
_NEAR = 200


def without_macros(source: bytes) -> bytes:
    """Blank macros alone in a row, and those around the heads of types and functions."""
    alone = _MACRO.sub(blanked, b"\n" + source)[1:]
    heads = _MACRO_IN_STRUCT.sub(blanked, _MACRO_IN_CLASS.sub(blanked, _without_rows_above_access(alone)))
    places = [it.start() for it in _MACRO_AFTER_HEAD.finditer(heads)]
    return blanked_at(places, _MACRO_OF_DECLARATION, blanked_at(places, _MACRO_OF_FUNCTION, heads))


def _without_rows_above_access(source: bytes) -> bytes:
    """Blank macros in rows of their own right above "public:" and the like."""
    parts: list[bytes] = []
    done = 0
    for place in sorted(it.start() for pattern in _ACCESS for it in pattern.finditer(source)):
        # Above most of them stands a brace or semicolon.
        if _END_OF_MACRO.search(source, max(done, place - _NEAR), place) is None:
            continue
        found = _ROWS_ABOVE.search(source, max(done, place - _LONGEST_ABOVE), place)
        if found is not None:
            parts += [source[done : found.start()], blanked(found)]
            done = place
    return b"".join([*parts, source[done:]]) if parts else source


# Attributes by macros: in the words before a declaration, such as "UV_EXTERN int", between type and name, after a name.
_ATTRIBUTE = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]*+%s?" % _ARGUMENTS
_EXPORT = later(
    rb"\n[ \t]*+(?P<macro>(?:(?:__)?+[A-Z][A-Z0-9_]{3,}%s?\s+){1,4})"
    rb"(?=[A-Za-z_][\w:<>,*& \t]*?[\w*&>]\s*[\s*&]~?\w[\w:]*\s*[({=;\[]"
    rb"|(?:(?:explicit|virtual|inline|constexpr)[ \t]+)*(?:~[A-Za-z_]\w*[ \t]*\(|operator\b)"
    rb"|[A-Za-z_][\w \t*]*?[\w*][ \t]*\([ \t]*\*[ \t]*\w+[ \t]*\)[ \t]*\()" % _ARGUMENTS
)
# "INLINE buffer(int n) : size_(n) {": a constructor has no type in between.
_INITIALISED = later(
    rb"\n[ \t]*+(?=[A-Ze_])(?:explicit[ \t]+)?(?P<macro>(?:(?:__)?+[A-Z][A-Z0-9]*_[A-Z0-9_]*+%s?[ \t]+)+)"
    rb"(?=(?:explicit[ \t]+)?[A-Za-z_]\w*+[ \t]*\((?:[^(){};]|\([^()]*+\))*+\)\s*(?:noexcept\s*%s?\s*)?:\s*"
    rb"(?://[^\n]*+\n\s*)*+[\w:<>]+\s*[({])" % (_ARGUMENTS, _ARGUMENTS)
)
_ROW_OF_CAPITALS = later(rb"\n[ \t]*+(?:(?:__)?+[A-Z][A-Z0-9_]|explicit)")
"""Where the two of them may match."""
# Before "=" or ";" a name without arguments is a constant's, "int MAX_SIZE = 4;", and one with parameters a function's.
_BETWEEN = later(
    rb"[ \t](?<=[\w*&>][ \t])(?=[ \t]*+(?:[A-Z][A-Z0-9_]|absl_n))"
    rb"(?<!return.)(?<!case.)(?<!goto.)(?<!else.)(?<!throw.)(?<!sizeof.)"
    rb"(?<!new.)(?<!delete.)(?<!define.)(?<!defined.)(?<!ifdef.)(?<!ifndef.)(?<!and.)(?<!or.)(?<!not.)(?<!&&.)"
    rb"(?<!const.)(?<!static.)(?<!extern.)(?<!inline.)(?<!struct.)(?<!enum.)(?<!union.)(?<!typedef.)(?<!register.)"
    rb"(?<!volatile.)[ \t]*"
    rb"(?P<macro>(?:%s|absl_null\w+|absl_nonnull)(?=[ \t]*[ \t*&][A-Za-z_~])"
    rb"|[A-Z](?:(?:[A-Z0-9]*_)*(?:ATTR|ATTRIBUTE|UNUSED|DEPRECATED)(?:_[A-Z0-9_]*+)?"
    rb"|[A-Z0-9]*_[A-Z0-9_]*+\((?:\"(?:[^\"\\\n]|\\.)*+\"|(?!\w[\s*&]+\w)[^()\"]|\([^()]*+\))*+\))"
    rb"(?=\{|[ \t]*[=;,)]))[ \t]?" % _ATTRIBUTE
)
# "const YY_CHAR classes[256]" has a type there.
_CAPITALS = bytes.maketrans(b"\tBCDEFGHIJKLMNOPQRSTUVWXYZ123456789_", b" " + b"A" * 25 + b"0" * 10)
_NEAR_BETWEEN = later(rb" A[A0](?<=[\w*&> ]...)(?<!return...)(?<!define...)[A0]*+(?=[({=;,)]| *[ *&][A-Za-z0~=;,)])")
"""Where `_BETWEEN` may match, in a text with one sign for all blanks, one for capitals, and one for digits and "_"."""
_BLANKS = b" \t"
_AFTER_WORDS = tuple(
    later(rb"%b(?<!\w%b)[ \t]+(?P<macro>%b)(?=[ \t]+[A-Za-z_][\w:<>]*+[ \t*&]+[A-Za-z_~])" % (word, word, _ATTRIBUTE))
    for word in (b"static", b"extern", b"inline", b"const")
)
# "template class List<int>;" defines nothing, and the grammar reads only the simplest of them.
_INSTANTIATED = later(rb"\n[ \t]*+(?P<macro>(?:extern[ \t]+)?template[ \t]+(?!<)[^{};#]{0,2000};)")
# "PRIVATE_UNLESS_TESTED:" in a class, and "DECLARE_TYPE(BOOL, bool)" in a row without a semicolon.
_ROW = later(
    rb"\n(?<!\\\n)[ \t]*+(?P<macro>[A-Z][A-Z0-9]*_[A-Z0-9_]*+(?::(?=[ \t]*\r?\n)"
    rb"|%s(?=[ \t]*\r?\n(?:[ \t]*\r?\n)*+[ \t]*[A-Za-z~#/}])))" % _ARGUMENTS
)
# "typedef BOOL (WINAPI *run)(int);".
_CONVENTION = later(rb"\((?P<macro>(?:__)?+[A-Z][A-Z0-9_]{3,})(?=[ \t]*\*[ \t]*\w+[ \t]*\)\s*\()")
_SIZED = later(rb"__int(?:8|16|32|64)\b")
# A comment in a macro hides its rest from the grammar.
_NOTE_IN_MACRO = later(rb"/\*(?:[^*\n\\]|\*(?!/)|\\\r?\n){0,300}+\*/(?=[^\n]{0,200}\\\r?\n)")
_GOES_ON = later(rb"\\\r?\n")
_NO_END_OF_ROW = later(rb"[^\n\r\\]")
_NOTE_IN_ROW = later(rb"#[ \t]*define\b[^\n/\"]{0,200}(?P<note>/\*[^*\n]{0,200}\*/)(?=[ \t]*[^\s/])")


# "char *RBS_NONNULL name(void)", "char *_Nullable it": between "*" and a name only qualifiers may stand.
_OF_POINTER = later(
    rb"\*(?P<macro>(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*+|_N(?:on|ull)[a-z_]++)[ \t]+)(?=[A-Za-z_]\w*+[ \t]*[(,);=\[])"
)


def without_exports(source: bytes) -> bytes:
    """Blank attributes by macros, in a text with errors."""
    source = _OF_POINTER.sub(blanked, source)
    if _GOES_ON.search(source) is not None:
        source = _NOTE_IN_MACRO.sub(lambda it: _NO_END_OF_ROW.sub(b" ", it[0]), source)
    source = _NOTE_IN_ROW.sub(blanked, source)
    source = _CONVENTION.sub(blanked, _SIZED.sub(lambda it: b"int".ljust(len(it[0])), source))
    for pattern in _AFTER_WORDS:
        source = pattern.sub(blanked, source)
    return _without_between(_without_first(source))


def _without_first(source: bytes) -> bytes:
    """Blank macros at the beginning of declarations."""
    rows = [it.start() for it in _ROW_OF_CAPITALS.finditer(source)]
    if any(_INITIALISED.match(source, row) for row in rows):
        return _EXPORT.sub(blanked, _INITIALISED.sub(blanked, source))
    return blanked_at(rows, _EXPORT, source)


def _without_between(source: bytes) -> bytes:
    """Blank macros between the type and the name of declarations."""
    if b"absl_n" in source:
        return _BETWEEN.sub(blanked, source)
    near = [it.start() for it in _NEAR_BETWEEN.finditer(source.translate(_CAPITALS))]
    # A match begins with the first of several blanks.
    return blanked_at([_first_blank(it, source) for it in near], _BETWEEN, source)


def _first_blank(place: int, source: bytes) -> int:
    while place and source[place - 1] in _BLANKS:
        place -= 1
    return place


# "SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf) {" and "ZEND_METHOD(Foo, bar) {" define functions; tests
# such as "TEST_F(Suite, adds) {" have rules of their own.
_DEFINING = later(
    rb"\n[A-Z](?![A-Z0-9_]*TEST)[A-Z0-9]*_[A-Z0-9_]*+\("
    rb"(?:(?<=_METHOD\()(?P<class>\w++[ \t]*+,))?[ \t]*+[A-Za-z_]\w*+[ \t]*+"
    rb"(?P<rest>,(?:[^(){};#]|\([^(){};#]*+\))*+)?\)(?=\s*+\{)"
)


def without_further_arguments(source: bytes) -> bytes:
    """Leave "SYSCALL_DEFINE1(close, int, fd) {" its first argument, which the grammar reads, in a text with errors."""
    return _DEFINING.sub(blanked, b"\n" + source)[1:]


# In "template <typename T, ENABLE_IF(a && b)>" the grammar takes the condition for parameters. A word may also stand
# between "if" and its condition.
_CONDITION = later(
    rb"(?P<condition>\((?<=[A-Z0-9_]{3}\()(?:[^();{}#\\]++|\((?:[^()\\]++|\([^()\\]*+\))*+\))*+\))"
    rb"(?=\s*(?:[,>]|=\s*\w))"
)
_BEFORE_CONDITION = later(rb"[<,\s][A-Z][A-Z0-9_]{3,}\Z")
_LONGEST_MACRO = 100
_AFTER_IF = later(rb"if(?<!\wif)[ \t]+(?P<word>[A-Z][A-Z0-9_]{3,})(?=[ \t]*\()")


def without_conditions(source: bytes) -> bytes:
    """Blank conditions of templates, macros in rows of their own and instances of templates, in a text with errors."""
    source = _ROW.sub(blanked, _INSTANTIATED.sub(blanked, source))
    return _without_conditions_of_templates(_AFTER_IF.sub(blanked, source))


def _without_conditions_of_templates(source: bytes) -> bytes:
    # Brackets are found in a tenth of the time of capitals.
    parts: list[bytes] = []
    first = place = 0
    while (found := _CONDITION.search(source, place)) is not None:
        start, place = found.span()
        if _BEFORE_CONDITION.search(source, max(start - _LONGEST_MACRO, first), start) is None:
            # Another may stand in these brackets.
            place = start + 1
            continue
        parts += [source[first:start], blanked(found)]
        first = place
    return b"".join([*parts, source[first:]]) if parts else source


# Objective-C++: "std::vector<A *> _items;" among the variables of a class, or "const auto b = [a c];", hides the rest
# of the class from the grammar; so does a macro after the head of a method.
_SCOPE = later(
    rb"(?P<scope>(?<!\w)(?<!::)(?:[A-Za-z_]\w{0,100}::)+)(?=[A-Za-z_~])"
    rb"(?:[A-Za-z_]\w*+(?P<arguments><(?:[^<>;(){}]|<(?:[^<>;(){}]|<[^<>;(){}]*+>)*+>)*+>))?"
)
_AUTO = later(rb"auto(?<!\wauto)(?=[ \t]+\w|[ \t]*[&*]{1,2}[ \t]*\w)")
_RANGE = later(rb"(?P<before>for[ \t]*\([^;()&:\n]*)(?P<mark>&{0,2})(?P<name>[ \t]*\w+)[ \t]:[ \t](?=[^;\n])")
_MACRO_OF_METHOD = later(rb"\n[-+][ \t]*\([^\n;{]*[\w)][ \t]+(?P<macro>NS_[A-Z_]+(?:\([^()\n]*\))?)(?=\s*[;{])")


def without_cpp(source: bytes) -> bytes:
    """Blank additions of C++ to Objective-C, in a text with errors."""
    plain = _SCOPE.sub(blanked, source) if b"::" in source else source
    plain = _RANGE.sub(
        lambda it: it["before"] + b" " * len(it["mark"]) + it["name"] + b" ;;", _AUTO.sub(b"id  ", plain)
    )
    return _MACRO_OF_METHOD.sub(blanked, plain)


_TRAILING = later(
    rb"(?P<head>#[ \t]*+define)(?P<rest>[ \t]+\w++(?:\([^()\n]*\))?(?:[ \t]*/\*(?:[^*\n]|\*(?!/)){0,200}+\*/)?)"
    rb"(?P<blanks>[ \t]+)(?=\r?\n)"
)


def with_joined_macros(source: bytes) -> bytes:
    """Put blanks behind a macro without a value before its name: the grammar takes the next row for its value."""
    return _TRAILING.sub(lambda it: it["head"] + it["blanks"] + it["rest"], source)


# "typedef NS_ENUM(NSInteger, Name) {...}" is unknown to the grammar.
_OBJC_ENUM = later(
    rb"(?P<typedef>typedef\s+)?\b(?P<macro>(?:NS|CF)_(?:\w+_)?(?:ENUM|OPTIONS)\s*\([^,()]{0,99},)"
    rb"\s*\w+\s*(?P<end>\))(?=\s*\{)"
)


def with_enums(source: bytes) -> bytes:
    """Read "NS_ENUM(NSInteger, Name)" as "enum Name"."""
    return _OBJC_ENUM.sub(_as_enum, source) if b"_ENUM" in source or b"_OPTIONS" in source else source


def _as_enum(found: re.Match[bytes]) -> bytes:
    text = blanked(found)
    place = found.start("macro") - found.start()
    return text[:place] + b"enum" + text[place + 4 :]

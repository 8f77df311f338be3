"""Rewrite words unreadable to the grammar of Perl: prototypes, elements of references, lists of modules.

Only texts with errors are changed; the bytes keep their places.
"""

import re

from cqm.chunkers.languages.further.unread_perl import with_empty_heredocs
from cqm.chunkers.languages.model import blanked
from cqm.chunkers.model import later

_PROTOTYPE = later(rb"\bsub[ \t]+[\w:']+[ \t]*(?P<prototype>\([\s$@%&*;\\\[\]+_]*\))")
_NAMES = b"isa or and not xor lt gt le ge eq ne cmp tr qw qq qr".split()
OPERATORS = {(it[:-1] + it[-1:].upper()).decode(): it.decode() for it in _NAMES}
"""Operators that also name functions, by the function names written instead: `sub isA {`."""
_OPERATOR = later(rb"(?P<head>\bsub[ \t]+)(?P<name>%s)(?=\s*\{)" % b"|".join(_NAMES))
_ELEMENT = later(rb"(?<![\w$\\&@%])(?P<sign>\$)(?=\$+\w+[ \t]*[\[{])")
_ELEMENT_OF_TOPIC = later(rb"(?<![\w$\\&@%])\$\$_(?=[ \t]*[\[{])")
_OF_CALL = later(rb"(?<![\w$@%&>:'\"{-])[a-z](?=\w+->[\[{])")
_QUOTING_KEY = later(rb"(?P<before>[{(,]\s*)[ysmqx](?=[ \t]*=>)")
_LETTERS_IN_BRACKETS = later(rb"\b(?P<word>tr|y)\((?P<texts>(?:[^()\\\n]|\\.)*)\)\((?P<others>(?:[^()\\\n]|\\.)*)\)")
_PATTERN = later(
    rb"(?P<before>(?:[(,=;{!&|]|^|\b(?:split|grep|and|or|not|if|unless|return|map))[ \t]*)"
    rb"/(?P<text>(?!/)(?:[^/\\\n]|\\.)+)/(?P<flags>[a-z]*)",
    re.MULTILINE,
)
_BRACED = later(rb"(?P<before>[=!]~[ \t]*(?:m|qr))\{(?P<text>(?:[^{}\\\n]|\\.|\{[\d,]*\})*)\}(?P<flags>[a-z]*)")
_SUBSTITUTED = later(
    rb"(?P<before>=~[ \t]*s)/(?P<text>(?:[^/\\\n]|\\.)*)/(?P<other>(?:[^/\\\n]|\\.)*)/(?P<flags>[a-z]*)"
)
_OTHER_SIGNS = later(
    rb"(?P<before>=~[ \t]*|!~[ \t]*)(?P<word>m|s)(?P<sign>[:#!|,%])(?P<texts>[^\n]{0,300}?)(?P=sign)(?=[a-z]*[\s;)])"
)
_FURTHER_KEY = later(
    rb"(?<=[\w}\]>']\{)(?P<first>\$\w+|'[^'\n]*')(?P<keys>(?:[ \t]*,[ \t]*(?:\$\w+|'[^'\n]*'))+)(?=\})"
)
_COMMAND = later(rb"(?<![\w$@%&>])qx[ \t]*\{[^{}\n]*\}")
_OF_PERL = later(rb"\$\{\^\w+\}")
_LAST_COMMA = later(rb"(?<=[\w\])}'\"])(?P<sign>[ \t]*,)(?=\s*\))")
_LETTERS = later(rb"\b(?P<word>tr|y)/(?P<texts>(?:[^/\\\n]|\\.)*)/(?P<others>(?:[^/\\\n]|\\.)*)/")
_LETTERS_APART = later(
    rb"(?P<before>=~[ \t]*)(?P<word>tr|y)(?P<sign>[:#!|,%])(?P<texts>(?:(?!(?P=sign))[^\\\n]|\\.){0,200})(?P=sign)"
    rb"(?P<others>(?:(?!(?P=sign))[^\\\n]|\\.){0,200})(?P=sign)"
)
_REQUIRED = later(rb"(?<![\w$@%&>-])(?P<word>require)(?=[ \t]+(?:[\d\"'$(]|v\d))")
_CONDITIONAL = later(rb"(?<![\w$@%&>-])require[ \t]+[\w:]++(?=[ \t]*+(?:and\b|or\b|&&|\|\|))")
_IMPORT = later(rb"(?<=->impor)t(?=[ \t]*;)")
_NO_CONDITION = later(rb"(?P<head>\bfor(?:each)?[ \t]*\([^;(){}\n]{0,300};)[ \t](?=[ \t]*;)")
_OF_MAIN = later(rb"(?<![\w:'\"$@%&*\\>}])(?P<sign>::)(?=[A-Za-z_]\w*)")
_LISTED = rb"(?!constant\b|parent\b|base\b)[A-Za-z_][\w:]*[ \t\n]+(?![{(;])(?:[^;{}=]|q[qw]?\{[^{}\n]*\}){1,400}?=>"
_WITH_PAIRS = later(rb"^[ \t]*(?P<use>use[ \t]+" + _LISTED + rb"[^;{}]{0,4000};)", re.MULTILINE)
_WITH_BLOCKS = later(rb"^[ \t]*(?P<use>use[ \t]+)(?=" + _LISTED + rb"[^;{}]{0,4000}\{)", re.MULTILINE)
_LIBRARY = later(rb"^[ \t]*(?P<use>use[ \t]+lib[ \t]+\w(?:[^;{}\n-]|-(?!>))*+->[^;{}\n]*+;)", re.MULTILINE)
_PROCESS = later(rb"(?<![\w$\\])\$\$(?![\w{$:])")
_GLOB = later(rb"(?<![\w)\]}$@%])(?P<sign>\*)(?=\$\w+[ \t]*=(?!=))")
_TOPIC = later(rb"(?<![\w$])\$_(?=\{)")
_SYMBOLS = later(rb"(?P<name>\$(?:\w+(?:::\w+)*)?)::(?=[\w{])(?!\w+::)")
_OF_MAIN_LIST = later(rb"(?<=[@%])::(?=\w)")
_HEXADECIMAL = later(rb"(?<![\w)}\]$])(?P<sign>-)(?=0[xb])")
_FUNCTION_IN_KEY = later(
    rb"(?<=[\w}\]>]\{)(?P<word>[ \t]*(?:lc|uc|lcfirst|ucfirst|ref|defined|length|int|shift|pop|join)[ \t]+)(?=\$)"
)
_SLICE = later(rb"(?<=\{)[ \t]*qw[ \t]*(?:\([^()\n]*\)|/[^/\n]*/|\[[^\[\]\n]*\])[ \t]*(?=\})")
_WORDS = later(rb"\bqw[ \t]*\((?P<words>(?:[^()\\]|\([^()\\]*\)){0,4000})\)")
_NO_WORDS = bytes.maketrans(b"<>()[]{}\"'#|&;`", b"a" * 15)


def with_plain_words(source: bytes) -> bytes:
    """Replace words and signs unreadable to the grammar."""
    source = with_empty_heredocs(source) if b"<<" in source else source
    for pattern in (
        _PROTOTYPE,
        _ELEMENT,
        _LAST_COMMA,
        _REQUIRED,
        _OF_MAIN,
        _WITH_PAIRS,
        _WITH_BLOCKS,
        _LIBRARY,
        _GLOB,
        _HEXADECIMAL,
        _FUNCTION_IN_KEY,
    ):
        source = pattern.sub(blanked, source)
    source = _OPERATOR.sub(lambda it: it["head"] + it["name"][:-1] + it["name"][-1:].upper(), source)
    source = _CONDITIONAL.sub(lambda it: b"1".ljust(len(it[0])), source)
    source = _NO_CONDITION.sub(lambda it: it["head"] + b"1", _IMPORT.sub(b"T", source))
    source = _ELEMENT_OF_TOPIC.sub(b" $a", _OF_CALL.sub(b"$", source))
    source = _TOPIC.sub(b"$a", _PROCESS.sub(b"$a", source))
    source = _OF_MAIN_LIST.sub(b"aa", source)
    source = _SYMBOLS.sub(lambda it: it["name"] + b"aa", source)
    source = _QUOTING_KEY.sub(lambda it: it["before"] + b"a", source)
    source = _OF_PERL.sub(lambda it: b"$".ljust(len(it[0]), b"a"), source)
    source = _LETTERS.sub(lambda it: b"%s/%s/%s/" % (it[1], b"a" * len(it[2]), b"a" * len(it[3])), source)
    source = _LETTERS_IN_BRACKETS.sub(
        lambda it: b"%s/%s/%s/ " % (it[1], b"a" * (len(it[2])), b"a" * (len(it[3]))), source
    )
    source = _LETTERS_APART.sub(
        lambda it: b"%s%s/%s/%s/" % (it[1], it[2], b"a" * len(it["texts"]), b"a" * len(it["others"])), source
    )
    source = _OTHER_SIGNS.sub(_as_match, source)
    source = _FURTHER_KEY.sub(lambda it: it["first"] + b" " * len(it["keys"]), source)
    source = _COMMAND.sub(lambda it: b"''".ljust(len(it[0])), source)
    source = _PATTERN.sub(lambda it: b"%s/%s/" % (it[1], b"a" * len(it[2])) + b" " * len(it[3]), source)
    source = _BRACED.sub(lambda it: b"%s{%s}" % (it[1], b"a" * len(it[2])) + b" " * len(it[3]), source)
    source = _SUBSTITUTED.sub(_as_substitution, source)
    source = _SLICE.sub(lambda it: b"a".ljust(len(it[0])), source)
    return _WORDS.sub(lambda it: it[0][: -len(it["words"]) - 1] + it["words"].translate(_NO_WORDS) + b")", source)


def _as_substitution(found: re.Match[bytes]) -> bytes:
    text, other = (b"a" * len(it) for it in (found["text"], found["other"]))
    return b"%s/%s/%s/" % (found["before"], text, other) + b" " * len(found["flags"])


def _as_match(found: re.Match[bytes]) -> bytes:
    length = len(found["texts"])
    text = b"a" * length
    if found["word"] == b"s":
        text = b"a" * (length // 2) + b"/" + b"a" * (length - length // 2 - 1) if length else b""
    return found["before"] + found["word"] + b"/" + text + b"/"

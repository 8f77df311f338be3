"""Rewrite text unreadable to the grammar of Perl: classes, several heredocs, references, flags of matches."""

import re

from cqm.chunkers.languages.model import blanked
from cqm.chunkers.model import later

_DASH = later(rb"^[ \t]*use[ \t]+(?!parent|base)[\w:]+[ \t]+(?P<words>-[a-z][^;\n]*)(?=;)", re.MULTILINE)
_FURTHER = later(
    rb"^[ \t]*use[ \t]+[A-Z][\w:]*[ \t]+(?:'[^'\n]*'|\"[^\"\n]*\"|qw[ \t]*\([^()]*\))"
    rb"(?P<words>[ \t]*,[^;{}]{0,4000})(?=;)",
    re.MULTILINE,
)
_ANONYMOUS = later(
    rb"\bsub(?P<attribute>[ \t]*:[ \t]*\w+(?:\([^()\n]*\))?)?(?P<signature>[ \t]*\([^(){}]{0,1000}\))?(?=[ \t]*\{)"
)
_SEVERAL = later(rb"\bfor(?:each)?[ \t]+my[ \t]+(?P<open>\()[ \t]*\$\w+(?P<further>(?:[ \t]*,[ \t]*\$\w+)+[ \t]*\))")
_BACKSLASH = later(rb"(?<!\\)(?:\\\\)+(?=')")
_BEFORE_ARROW = later(rb"(?<![\w:$@%&>'\"])(?:s(?=hift->)|__(?=PACKAGE__->))")
_ALL_OF = later(rb"->[@%$]\*")
_RETURN = later(rb"(?<![\w$@%&>-])return(?=[ \t][^;{}\n?]{0,300}[ \t]\?[ \t][^;{}\n]{0,300}[ \t]:[ \t])")
_REFERENCE = later(rb"([*$%@])\{(?!\^?\w+\})(?:[^{}\n]|\{[^{}\n]{0,200}\}){1,200}\}")
_MATCH = later(rb"([=!]~[ \t]*(?:m|qr)?)/((?:[^/\\\n]|\\.)++)/([a-z]*+)")
_REF = later(rb"(?<![\w$@%&>:{-])ref(?=[ \t]+[$@%])|(?<=\{)ref(?=[ \t]+[$@%])")
_NOT = later(rb"!(?P<space>[ \t]+)(?=[$@%\w(])")
_NAMED_ATTRIBUTE = later(rb"\bsub[ \t]+\w+(?P<attribute>[ \t]*:[ \t]*(?!c\b)\w+(?:\([^()\n]*\))?)(?=\s*\{)")
_LAST = later(
    # In "m#/$#i" and "s#,$#a#" the signs end a pattern.
    rb"(?P<kept>(?<![\w$@%&>-])(?:(?:m|qr)#[^#\n]{0,300}#|s#[^#\n]{0,300}#[^#\n]{0,300}#))"
    rb"|\$#(?:\$?\w+|\{[^{}\n]{1,200}\})"
)

_CLASS = later(
    rb"^[ \t]*+(?P<word>class|role)[ \t]+(?P<name>[A-Za-z_][\w:]*)(?P<rest>[ \t]*+(?:v?[\d._]+)?[^;{}\n=]*)"
    rb"(?P<sign>;|\s*\{)",
    re.MULTILINE,
)
_METHOD = later(rb"^[ \t]*+(?:(?P<my>my)[ \t]+)?(?P<word>method)(?=[ \t]+\w+[^;{}\n]*\{)", re.MULTILINE)
_FIELD = later(
    rb"^[ \t]*+(?P<word>field)[ \t]+[$@%]\w+(?P<traits>[ \t]*+(?::[^=;/|\n]*)?(?://|\|\|)?)(?=[=;])", re.MULTILINE
)
_ADJUST = later(rb"^([ \t]*)ADJUST(?=[ \t\n]*\{)", re.MULTILINE)
_MOST_HEREDOCS = 400
_HEREDOC = later(
    rb"(?<![<\w)\]}])<<(?P<tilde>~?)(?:\"(?P<double>[^\"\n]+)\"|'(?P<single>[^'\n]+)'|(?P<bare>[A-Za-z_]\w*))"
)
_UNREAD_HEREDOC = later(rb"<<~|<<[\w\"'][^\n]*<<[\w\"'~]|(?<![<\w)\]}])<<[A-Za-z_\"'][^\n;]*\n|<<[\"'][ \t]")


def without_dashes(source: bytes) -> bytes:
    """Blank words as in "use Mojo::Base -strict", which the grammar knows after "use parent" only, and more lists."""
    return _FURTHER.sub(blanked, _DASH.sub(blanked, source))


def without_signatures(source: bytes) -> bytes:
    """Blank signatures and attributes of functions without a name: "get '/' => sub ($c) {...}"."""
    return _NAMED_ATTRIBUTE.sub(blanked, _SEVERAL.sub(blanked, _ANONYMOUS.sub(blanked, source)))


def without_arrows(source: bytes) -> bytes:
    """Write variables for "shift->x" and "__PACKAGE__->x", a name for "->@*", assignments for "return $a ? $b : $c".

    "ref $it" and "! $it" are rewritten, too.
    """
    source = _BACKSLASH.sub(lambda it: b"_" * len(it[0]), source)
    source = _BEFORE_ARROW.sub(lambda it: b"$" if it[0] == b"s" else b"$a", source)
    source = _NOT.sub(lambda it: it["space"] + b"!", _REF.sub(b"   ", source))
    return _RETURN.sub(b"$_   =", _ALL_OF.sub(b"->aa", source))


def without_references(source: bytes) -> bytes:
    """Write variables for "*{$class . '::new'} = sub {...}" and "${shift()}", "%{shift->{in} // {}}", "@{[f()]}"."""
    return _REFERENCE.sub(lambda it: ((b"$" if it[1] == b"*" else it[1]) + b"_").rjust(len(it[0])), source)


def without_patterns(source: bytes) -> bytes:
    """Blank flags of matches, as the grammar doesn't know all, and "$#$list", the last index of a list."""
    matches = _MATCH.sub(lambda it: b"%s/%s/%s" % (it[1], b"a" * len(it[2]), b" " * len(it[3])), source)
    return _LAST.sub(lambda it: it["kept"] or b"$" + b"a" * (len(it[0]) - 1), matches)


def without_classes(source: bytes) -> bytes:
    """Make a function with the attribute "c" of a class, functions of its methods and variables of its fields."""
    if not _CLASS.search(source):
        return source
    source = _CLASS.sub(_as_function, source)
    source = _METHOD.sub(lambda it: _in_place(it, (b"my", b""), (b"word", b"sub")), source)
    source = _FIELD.sub(lambda it: _in_place(it, (b"word", b"my"), (b"traits", b"")), source)
    return _ADJUST.sub(rb"\1BEGIN ", source)


def _as_function(found: re.Match[bytes]) -> bytes:
    if found["sign"] == b";":
        # It lasts to the end of the file, as a package does; the rule of calls knows it.
        return _in_place(found, (b"word", b"class"), (b"rest", b""))
    name = found["name"].replace(b"::", b"__")
    head = b"sub " + name + b":c"
    first = found.start("word") - found.start()
    end = found.start("sign") - found.start()
    return found[0][:first] + head.ljust(end - first) + found[0][end:]


def _in_place(found: re.Match[bytes], *groups: tuple[bytes, bytes]) -> bytes:
    """Write other words over some groups of a match, and spaces over the rest of them."""
    text = bytearray(found[0])
    for group, word in groups:
        first, end = found.span(group.decode())
        if first >= 0:
            text[first - found.start() : end - found.start()] = word.ljust(end - first)
    return bytes(text)


def without_heredocs(source: bytes) -> bytes:
    """Make empty strings of heredocs, where one is indented, a line has several, or no semicolon."""
    return with_empty_heredocs(source) if _UNREAD_HEREDOC.search(source) else source


def with_empty_heredocs(source: bytes) -> bytes:
    """Make empty strings of all heredocs."""
    result = bytearray(source)
    at = 0
    for _ in range(_MOST_HEREDOCS):
        begin = _HEREDOC.search(source, at)
        if begin is None:
            break
        line_end = source.find(b"\n", begin.end()) + 1 or len(source)
        opened = [begin, *_HEREDOC.finditer(source, begin.end(), line_end)]
        body = _body(source, line_end, opened)
        if body > line_end:
            for it in opened:
                result[it.start() : it.end()] = b"''".ljust(it.end() - it.start())
            result[line_end:body] = re.sub(rb"[^\s]", b" ", source[line_end:body])
        at = max(body, line_end)
    return bytes(result)


def _body(source: bytes, first: int, opened: list[re.Match[bytes]]) -> int:
    """Return the end of the bodies of some heredocs; `first` if one has none."""
    end = first
    for it in opened:
        tag = re.escape(it["double"] or it["single"] or it["bare"])
        last = re.compile(rb"^%s%s\r?$\n?" % (rb"[ \t]*" if it["tilde"] else b"", tag), re.MULTILINE).search(
            source, end
        )
        if last is None:
            return first
        end = last.end()
    return end

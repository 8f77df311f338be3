"""Blank the text unread or misread by the grammar of Kotlin, keeping a source's length."""

import re

from cqm.chunkers.languages.model import blank, blanked, blanked_at
from cqm.chunkers.model import later


def without_last_annotations(source: bytes) -> bytes:
    """Blank the signs of annotations in the last row."""
    # Without a following line end, the scanner of tree-sitter-kotlin 1.1.0 looks for the end of an annotation forever.
    start = source.rfind(b"\n") + 1
    return source[:start] + source[start:].replace(b"@", b" ")


_ANNOTATION = rb"@[\w.:]+(?:\((?:[^()\"]|\"(?:[^\"\\\n]|\\.)*+\"|\([^()]*+\))*+\))?"
_ANNOTATIONS = later(
    rb"\n(?P<others>(?:%s\s+){1,20}?)(?=%s\s+(?:(?:[a-z]+\s+)*?(?:class|interface)\b"
    rb"|(?:[a-z]+\s+)+?(?:object\b|fun\s+\w+\(\s*\)\s*[={]|va[lr]\s+\w+\s*=|typealias\b)))" % (_ANNOTATION, _ANNOTATION)
)
# Words usable as names, too: "@A data object B" may be an infix call of "object" with an annotation.
_SOFT = later(
    rb"\n(?P<annotations>(?:%s\s+){1,20}+)"
    rb"(?P<soft>(?:(?:actual|annotation|companion|const|data|expect|inner|operator|value)\s+)++)"
    rb"(?=(?:[a-z]+\s+)*?(?:class|interface|object|fun|va[lr]|typealias)\b)" % _ANNOTATION
)
_OF_ENUM = later(
    rb"\n(?P<others>(?:%s\s+){1,20}+)(?=(?:[a-z]+\s+)*?enum\s+class\s+\w+\s*\{\s*\w+\s*;?\s*\})" % _ANNOTATION
)
# The head of a class or object up to the last expression of a delegation: "class A(d: B) : B by d {".
_BY_EXPRESSION = rb"[\w.]+(?:<[^<>(){}]*>)?(?:\((?:[^(){}]|\([^(){}]*+\))*+\))?(?:!!)?"
_DELEGATION = later(
    rb"\b(?:class|object)(?:[ \t]+\w+)?(?:<[^(){}]{0,400}?>)?(?:\s*(?:" + _ANNOTATION + rb"|[a-z]+\b(?!\())){0,9}?"
    rb"(?:\s*(?:constructor\s*)?\((?:[^(){}]|\((?:[^(){}]|\([^(){}]*+\))*+\))*+\))?\s*:"
    rb"(?:[^(){}\n;=]|(?<=[:,])\n|\n(?=\s*(?:,|by\b))|\((?:[^(){}]|\([^(){}]*+\))*+\)){1,800}?"
    rb"\b(?P<by>by\s+" + _BY_EXPRESSION + rb")(?=\s*\{)"
)
_HEADS = later(rb"class"), later(rb"object")
_SHORTEST_NOTE = 4
_LAST_PAIR = later(rb"[^\n]{2}(?=\n?[^\n]?\Z)")
"""Where a comment may end without taking a line end."""


def with_one_annotation(source: bytes) -> bytes:
    """Make comments of all annotations of a class but the last."""
    # The second annotation of a class may make an expression of all, without an error. A comment keeps its place.
    if source.count(b"@") < 2:  # noqa: PLR2004 - two annotations
        return source
    return _ANNOTATIONS.sub(_as_comments, b"\n" + source)[1:]


def _as_comments(run: re.Match[bytes]) -> bytes:
    return b"\n" + re.sub(_ANNOTATION, _noted, run["others"])


def without_soft_words(source: bytes) -> bytes:
    """Blank words such as "data" between an annotation and a declaration of the outermost level."""
    if b"@" not in source:
        return source
    source = _SOFT.sub(lambda it: b"\n" + it["annotations"] + blank(it["soft"]), b"\n" + source)
    return _OF_ENUM.sub(_as_comments, source)[1:]


def without_delegation(source: bytes) -> bytes:
    """Blank "by it" before the body of a class: the grammar takes the body for a lambda passed to "it"."""
    if b" by " not in source:
        return source
    # Words are found in a tenth of the time of a choice of words.
    heads = sorted(it.start() for word in _HEADS for it in word.finditer(source))
    return blanked_at(heads, _DELEGATION, source)


def _noted(found: re.Match[bytes]) -> bytes:
    """Make a comment of a text with its length and lines, or blanks of one without room for the signs."""
    return _as_comment(found[0])


def _as_comment(text: bytes) -> bytes:
    last = _LAST_PAIR.search(text, 2)
    if len(text) < _SHORTEST_NOTE or last is None or b"\n" in text[:2]:
        return blank(text)
    return b"/*" + text[2 : last.start()] + b"*/" + blank(text[last.end() :])


_CONTEXT = rb"context[ \t]*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"
_UNKNOWN = later(
    rb"(?P<guard>(?:(?<=\n)[ \t]*(?:!?is|!?in|else|\"|[A-Z\d])|(?<=[{;])[ \t]*(?:!?is|!?in|else)\b)"
    rb"(?:[^\n>{}]|(?<!-)>){0,400}?\bif\b[^\n]{0,400}?(?=->))"
    rb"|(?P<dollars>\$\$+(?=\"))"
    rb"|(?P<context>(?<=\n)[ \t]*" + _CONTEXT + rb")"
    rb"|(?P<member>(?<=[{;])[ \t]*"
    + _CONTEXT
    + rb"(?=\s*(?:"
    + _ANNOTATION
    + rb"\s+|[a-z]+\s+)*?(?:fun|va[lr]|class)\b))"
    rb"|(?P<type>(?<=[=:(,<])[ \t]*" + _CONTEXT + rb"(?=[ \t]*(?:suspend[ \t]*)?(?:[\w.?]+\.)?\([^()\n]*\)[ \t]*->))"
    rb"|(?P<field>(?<=\n)[ \t]*(?:[a-z]+[ \t]+)*?val[ \t]+\w+[ \t]*(?::[^\n={}]*+)?\n[ \t]+field(?=[ \t]*(?::|=[^=])))"
    rb"|(?P<name>\b(?:in|is|as)(?=\d))"
    rb"|(?P<constructor>(?<=\n)[ \t]*(?:@[\w.]+\s+|(?:public|internal|protected|private)[ \t]+(?=actual\b|@)"
    rb"|actual[ \t]+){1,20}(?=(?:[a-z]+[ \t]+)*constructor\b))"
    rb"|(?P<lambda>\bsuspend(?=[ \t]*(?:\{|\(\()))"
    rb"|(?P<accessor>" + _ANNOTATION + rb"(?=(?:\s|//[^\n]*+)*+(?:[a-z]+\s+)*(?:get|set)\b[ \t]*[(\r\n]))"
    rb"|(?P<argument>(?<=[(,])\s*\b(?:suspend|open|data|inner|inline|value|enum|sealed|override|abstract|final"
    rb"|external|annotation|infix|operator|tailrec|vararg|noinline|crossinline|lateinit|expect|actual|internal|public|private"
    rb"|protected|companion|const)(?=[ \t]*=[^=]))"
)


def without_unknown(source: bytes) -> bytes:
    """Blank syntax unknown to the grammar of Kotlin 1.9: guards, context parameters, strings of several dollars."""
    return _UNKNOWN.sub(_without, source)


_RAW = later(rb'("""(?:[^"]|"(?!""))*+(?:"{3,})?+)')
_CLOSED = later(rb"^(?=[^\n]*?\b(?:fun|class|object|interface)\b)(?=[^\n]*?[ \t]\})[^\n]*$", re.MULTILINE)
_ENDS = later(rb"(?P<text>\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)++'|//[^\n]*+)|(?<=[\w)}\]\"'?])[ \t](?=\})")


def with_ends(source: bytes) -> bytes:
    """End the last declaration before a brace in its row, as in "interface A { fun f() }"."""
    parts = _RAW.split(source) if b'"""' in source else [source]
    # Every second one is a raw text.
    parts[::2] = [_CLOSED.sub(_with_ends, part) for part in parts[::2]]
    return b"".join(parts)


def _with_ends(row: re.Match[bytes]) -> bytes:
    return _ENDS.sub(lambda it: it["text"] or b";", row[0])


def _without(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if found.lastgroup == "guard":
        place = re.search(rb"\bif\b", text)
        if place is None or (text.lstrip().startswith(b"else if") and b"{" in text):
            return text
        return text[: place.start()].ljust(len(text))
    if found.lastgroup == "field":
        # An explicit backing field: a getter is as long.
        return text[: -len(b"field")] + b"get()"
    if found.lastgroup in ("context", "member", "type", "accessor"):
        bare = text.lstrip()
        return text[: len(text) - len(bare)] + _as_comment(bare)
    if found.lastgroup in ("dollars", "constructor", "lambda"):
        return blanked(found)
    # A keyword in the place of a name: any other word will do.
    return text[:-1] + b"_"

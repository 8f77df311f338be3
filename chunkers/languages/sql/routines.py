"""Make procedures, packages and the like readable to the grammar of SQL, which knows those of few dialects.

Each becomes a table of the same rows and bytes, `create table x(p y ... )`; rules read kind and name in the text. A
package's table has a column a routine. Lines ending a batch, such as "GO" and "/", become ends of statements.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from cqm.chunkers.languages.model import blank
from cqm.chunkers.model import later

NAME = rb"(?:\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`|\[[^\]\n]{1,200}\]|&?&?[A-Za-z_#@$\x80-\xff][\w#@$\x80-\xff]{0,200})"
NOTE = rb"(?:/\*[^*\n]{0,200}\*/[ \t]*)?"
_ROUTINES = (
    rb"procedure|proc|function|event[ \t]+trigger|trigger|event(?![ \t]+(?:session|notification)\b)"
    rb"|package[ \t]+body|package|type[ \t]+body"
)
_OTHERS = (
    rb"domain|policy|aggregate|rule|synonym|operator|publication|subscription|server|user|tablespace|collation|cast"
)
HEAD = later(
    rb"(?:create|alter)\s+(?:or\s+(?:replace|alter)\s+)?"
    rb"(?:(?:editionable|noneditionable|aggregate|definer\s*=\s*\S{1,200})\s+)*"
    rb"(?P<kind>" + _ROUTINES + b"|" + _OTHERS + rb")\s+(?:if\s+not\s+exists\s+)?" + NOTE + rb""
    rb"(?P<name>"
    + NAME
    + rb"(?:[ \t]*\.{1,2}[ \t]*"
    + NAME
    + rb"){0,3}|(?!/\*|--)[-+*/<>=~!@#%^&|?]{1,60}|\([^()\n]{1,200}\))",
    re.IGNORECASE,
)
"""The head of a routine or object that becomes a table."""
MEMBER = later(
    rb"[ \t]*(?:(?:member|static|constructor|map|order|final)[ \t]+)*(?:procedure|function)[ \t]+(?P<name>"
    + NAME
    + rb")",
    re.IGNORECASE,
)
_NEEDED = later(
    rb"\b(?:proc|procedure|package|delimiter|type\s+body|event|" + _OTHERS + rb")\b"
    rb"|^[ \t]*(?:go|/)[ \t\r]*$|\bcreate\b[^;]{0,400}\bbegin\b",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = later(
    rb"(?P<skip>--[^\n]*+|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\(?:'(?=\w))?)*+'?|\"[^\"]*+\"?|`[^`]*+`?|\[[^\]\n]{0,200}+\])"
    rb"|(?m:^)[ \t]*+(?:(?P<batch>(?:go(?:[ \t]+\d+)?|/)[ \t;]*\r?)(?m:$)|delimiter[ \t]+(?P<delimiter>\S{1,8})[^\n]*+)"
    rb"|(?P<sign>//|\$\$|\|\||;;|@@|%%|!!)|(?P<tag>\$\w{1,60}\$)|(?P<end>;)"
    rb"|(?<![\w@#$.])(?P<word>create|alter|begin|end|case|as|is|select|insert|update|delete|set|call|procedure|function)\b",
    re.IGNORECASE | re.DOTALL,
)
_TAG = later(rb"\$\w{0,60}\$")
_NOTHING = later(rb"(?:\s|--[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_TRANSACTION = later(rb"\s+(?:tran|transaction|work|distributed)\b|\s*;", re.IGNORECASE)
_INNER_END = later(rb"\s+(?:if|loop|while|repeat|for)\b", re.IGNORECASE)
_STRING = later(rb"\s*(?:\$|[NnEe]?'|\")")
_NOTE = later(rb"[ \t]*(?:--|/\*|\*)|[^\n]*\*/[ \t\r]*$")
_VERBS = frozenset({b"select", b"insert", b"update", b"delete", b"set", b"call"})


class _Token(NamedTuple):
    """A word in lower case, or an end of a statement.

    Its kind is "end" for ";", "batch" for an end such as "GO", "directive" for a line naming another end, or
    "delimited" for that end.
    """

    kind: str
    word: bytes
    start: int
    end: int


def without_routines(source: bytes) -> bytes:
    """Make tables of routines, packages and other unreadable objects; positions stay those of the text."""
    if not _NEEDED.search(source):
        return source
    tokens = _tokens(source)
    batches = [number for number, it in enumerate(tokens) if it.kind == "batch"]
    result = bytearray(source)
    at = done = 0
    while at < len(tokens):
        token, first = tokens[at], tokens[at].start
        if token.word in (b"create", b"alter"):
            at, is_table = _statement(tokens, at, source, batches)
            end, following = (tokens[at].start, tokens[at].kind) if at < len(tokens) else (len(source), "")
            if is_table:
                closes = following == "word" or source[first:end].rstrip().endswith(b";")
                result[first:end] = table_over(source[first:end], closes=closes)
                done = end if closes else done
            continue
        if token.kind in ("batch", "delimited", "directive"):
            is_over = token.kind == "directive" or _NOTHING.fullmatch(source, done, first)
            result[first : token.end] = _blank_but(b"" if is_over else b";", source[first : token.end])
        if token.kind != "word":
            done = token.end
        at += 1
    return bytes(result)


def _tokens(source: bytes) -> list[_Token]:
    """List the tokens that matter, outside comments and strings; text between "$$" is a string."""
    tags: dict[bytes, list[int]] = {}
    for tag in _TAG.finditer(source) if b"$" in source else ():
        tags.setdefault(tag[0], []).append(tag.start())
    delimiter, at = b"", 0
    tokens: list[_Token] = []
    while (found := _TOKEN.search(source, at)) is not None:
        at, kind = found.end(), found.lastgroup or ""
        if kind == "delimiter":
            delimiter = b"" if found[kind] == b";" else found[kind]
            tokens.append(_Token("directive", b"", *found.span()))
        elif kind == "sign" and found[kind] == delimiter:
            tokens.append(_Token("delimited", b"", *found.span()))
        elif kind in ("sign", "tag") and (places := tags.get(found[0])):
            following = bisect_left(places, found.end())
            at = places[following] + len(found[0]) if following < len(places) else at
        elif kind == "sign" and found[0] == b";;":
            at = found.start() + 1
            tokens.append(_Token("end", b"", found.start(), at))
        elif kind == "end" and not delimiter:
            tokens.append(_Token("end", b"", *found.span()))
        elif kind in ("batch", "word"):
            tokens.append(_Token(kind, found[kind].lower() if kind == "word" else b"", *found.span(kind)))
    return tokens


def _statement(tokens: list[_Token], at: int, source: bytes, batches: list[int]) -> tuple[int, bool]:
    """Return the number of a statement's last token, and whether the statement becomes a table.

    Parameters:
        at: the first of the statement, "create" or "alter".
        batches: numbers of the tokens ending batches.
    """
    head = HEAD.match(source, tokens[at].start)
    if head is None:
        return at + 1, False
    is_alter, kind = tokens[at].word == b"alter", head["kind"].lower().split()[0]
    if kind not in _ROUTINE_KINDS:
        return (at + 1, False) if is_alter else (_next_end(tokens, at), True)
    place = bisect_left(batches, at)
    batch = batches[place] if place < len(batches) else len(tokens)
    has_body = any(it.word in (b"as", b"is", b"begin") for it in tokens[at : min(batch, at + _MOST_HEAD)])
    if batch < len(tokens) and (has_body or not is_alter):
        return batch, True
    if is_alter:
        return at + 1, False
    if kind == b"package":
        return _end_of_package(tokens, at, source, head["name"]), True
    stop, has_block = _end_of_routine(tokens, head, at, source)
    end = tokens[stop].start if stop < len(tokens) else len(source)
    is_mysql = kind == b"trigger" and b"execute" not in source[head.end() : end].lower()
    return stop, has_block or is_mysql or kind in _UNREAD_KINDS


_ROUTINE_KINDS = frozenset({b"procedure", b"proc", b"function", b"trigger", b"event", b"package", b"type"})
_UNREAD_KINDS = frozenset({b"procedure", b"proc", b"event", b"type"})
"""The grammar reads none of these; of functions and triggers, it reads those without a block."""
_MOST_HEAD = 64
"""Words of a routine among which its body begins."""


def _next_end(tokens: list[_Token], at: int) -> int:
    return next((number for number in range(at + 1, len(tokens)) if tokens[number].kind != "word"), len(tokens))


def _end_of_package(tokens: list[_Token], at: int, source: bytes, name: bytes) -> int:
    own = name.rpartition(b".")[2].strip(b'"`[] \t').lower()
    for number in range(at + 1, len(tokens)):
        it = tokens[number]
        if it.word == b"end" and source[it.end : it.end + len(own) + 3].strip(b' \t\r\n";').lower() == own:
            return _next_end(tokens, number)
    return len(tokens)


@dataclass(slots=True)
class _Blocks:
    """The blocks, BEGIN ... END, of a routine so far.

    Attributes:
        depth: of open blocks.
        owed: blocks to come, one after each "AS" or "IS": declarations and routines of their own may stand before it.
        is_head: whether no body has begun since the last name of a routine.
        has_block: whether there was any.
    """

    depth: int = 0
    owed: int = 0
    is_head: bool = True
    has_block: bool = False

    def take(self, it: _Token, before: _Token, source: bytes) -> None:
        """Take a word and the token before it."""
        if it.word in (b"as", b"is") and self.is_head:
            self.owed += not _STRING.match(source, it.end)
            self.is_head = False
        elif it.word in (b"procedure", b"function"):
            self.is_head = True
        elif it.word in _VERBS:
            self.is_head = False
        elif it.word == b"begin" and not _TRANSACTION.match(source, it.end):
            self.owed -= self.depth == 0
            self.depth, self.has_block, self.is_head = self.depth + 1, True, False
        elif it.word == b"case" and before.word != b"end":
            self.depth += 1
        elif it.word == b"end" and not _INNER_END.match(source, it.end):
            self.depth = max(self.depth - 1, 0)


def _end_of_routine(tokens: list[_Token], head: re.Match[bytes], at: int, source: bytes) -> tuple[int, bool]:
    """Return the number of a routine's last token, and whether it has a block."""
    blocks = _Blocks()
    for number in range(at + 1, len(tokens)):
        it = tokens[number]
        if it.start < head.end():
            continue
        if it.kind in ("delimited", "directive"):
            return number, True
        is_first = it.word == b"create" and source[it.start - 1 : it.start] == b"\n"
        # A body without a block, such as "AS SELECT 1" of a batch, may last up to the next statement.
        if blocks.depth == 0 and (is_first or (it.kind != "word" and blocks.owed <= 0)):
            return number, blocks.has_block
        blocks.take(it, tokens[number - 1], source)
    return len(tokens), blocks.has_block


def table_over(text: bytes, *, closes: bool) -> bytes:
    """Write a table over a statement, with an end if it `closes`; its text if there is no room."""
    members = _members(text)
    table = bytearray(blank(text))
    place = 0
    for token in (b"create", b"table", b"x("):
        place = put(table, place, token)
    for number, (first, end) in enumerate(members or [(place, place)]):
        place = put(table, max(place, first), b"," if number else b" ")
        place = put(table, place, b"p")
        place = put(table, max(place, end - 1), b"y")
    last = len(text.rstrip())
    closing = b");" if closes else b")"
    if place > last - len(closing) or b"\n" in text[last - len(closing) : last]:
        return text
    table[last - len(closing) : last] = closing
    return bytes(table)


def put(table: bytearray, place: int, token: bytes) -> int:
    """Put a token into the first room for it at a place or after; return the place after it."""
    first = table.find(b" " * len(token), place)
    if first < 0:
        return len(table) + 1
    table[first : first + len(token)] = token
    return first + len(token) + (token != b" ")


def _members(text: bytes) -> list[tuple[int, int]]:
    """Return where each routine of a package begins and ends."""
    head = HEAD.match(text)
    if head is None or not head["kind"].lower().startswith((b"package", b"type")):
        return []
    found = list(_MEMBER_LINE.finditer(text, head.end()))
    least = min((it.end("indent") - it.start("indent") for it in found), default=0)
    begins = [it.start() for it in found if it.end("indent") - it.start("indent") == least]
    if not begins:
        return []
    last_end = max((it.start() for it in _END_LINE.finditer(text, begins[-1])), default=len(text))
    return [(first, _last_line(text, first, end)) for first, end in zip(begins, [*begins[1:], last_end], strict=True)]


_MEMBER_LINE = later(rb"^(?P<indent>[ \t]*)" + MEMBER.pattern, re.IGNORECASE | re.MULTILINE)
_END_LINE = later(rb"^[ \t]*end\b", re.IGNORECASE | re.MULTILINE)


def _last_line(text: bytes, first: int, end: int) -> int:
    """Return the end of a routine above some comments, which are the next one's."""
    while end > first:
        begin = text.rfind(b"\n", first, end - 1) + 1 or first
        if text[begin:end].strip() and not _NOTE.match(text, begin, end):
            break
        end = begin
    return first + len(text[first:end].rstrip())


def _blank_but(sign: bytes, text: bytes) -> bytes:
    """Blank a text, but for a sign in place of its first character."""
    first = len(text) - len(text.lstrip())
    spaces = blank(text)
    return spaces[:first] + sign + spaces[first + len(sign) :]

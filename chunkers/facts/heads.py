"""Tell where the body of a declaration begins, in any language and without a syntax tree."""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"(?P<skip>//[^\n]*+|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*+\"?|`[^`\n]*+`?|(?<=operator)[^\w(]{1,4}"
    r"|->|<[-=]|[>=!<:+*/%&|^~-]=|={2,3})"
    r"|(?P<arrow>=>)|(?P<quote>(?<!\w)')|(?P<equal>(?<=\s)=(?![=~])|^=(?!=))|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<less>(?<=[\w.:])<)|(?P<greater>>)",
    re.DOTALL,
)
_HIDING = re.compile(r"[\"'`/<=]|operator")
"""Signs that may hide a bracket, or not end a head; most declarations have none before their body."""
_BRACKET = re.compile(r"[()\[\]}]")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*+'")
_LIFETIME = re.compile(r"'[A-Za-z_]\w*(?!')")
_LONGEST = 2_000
"""Characters to read: signatures are shorter, and a file may have all its text on one line."""
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(slots=True)
class _Scan:
    """The part of a text outside brackets and strings, so far.

    Attributes:
        opened: the brackets open now, each with its place.
        equal: the place of the first "="; -1 for none.
        attached: the place of the first brace right after a word, maybe a value: "size{1}", "interface{}".
        last_group: the place of the last closed round or square brackets.
    """

    opened: list[tuple[str, int]] = field(default_factory=list)
    equal: int = -1
    attached: int = -1
    last_group: int = -1

    def take(self, sign: str, place: int) -> None:
        """Open or close a bracket."""
        if sign not in _PAIRS and sign != ">":
            self.opened.append((sign, place))
            return
        wanted = _PAIRS.get(sign, "<")
        if wanted == "<" and not (self.opened and self.opened[-1][0] == "<"):
            return
        while self.opened:
            bracket, began = self.opened.pop()
            if bracket == wanted:
                self.last_group = began if wanted in "([" and not self.opened else self.last_group
                return


def before_body(text: str) -> str:
    r"""Return a declaration up to its body: `{`, `=>` or `=` outside brackets, strings and generics.

        before_body("fun sus(f: (Int) -> Unit = {}) {")  # "fun sus(f: (Int) -> Unit = {})"
        before_body("const parse = (text) => {")  # "const parse = (text)"

    For a value with unclosed brackets, the text before them is returned.
    """
    read = text[:_LONGEST]
    head, brace, _ = read.partition("{")
    if not _HIDING.search(head) and _is_closed(head) and not _ends_in_word(head if brace else ""):
        return head.rstrip() if brace and head else text
    end = _body(read, has_generics=True)
    if end < 0:
        # "a < b" may have been taken for generics.
        end = _body(read, has_generics=False)
    return text[:end].rstrip() if end > 0 else text


def open_brackets(line: str) -> int:
    """Return how many round and square brackets a line opens and does not close; strings count for nothing."""
    if not _HIDING.search(line):
        return line.count("(") + line.count("[") - line.count(")") - line.count("]")
    return sum(
        1 if sign in "([" else -1
        for kind, sign, _ in _tokens(line[:_LONGEST], has_generics=False)
        if kind in ("open", "close") and sign in "([)]"
    )


def _ends_in_word(head: str) -> bool:
    return head[-1:].isalnum() or head[-1:] == "_"


def _is_closed(head: str) -> bool:
    """Whether each bracket of a text without strings is closed in it, one after the other."""
    depth = 0
    for sign in _BRACKET.findall(head):
        depth += 1 if sign in "([" else -1
        if depth < 0:
            return False
    return depth == 0


def _body(text: str, *, has_generics: bool) -> int:
    """Return the place of the body; -1 for none."""
    scan = _Scan()
    for kind, sign, place in _tokens(text, has_generics=has_generics):
        if not scan.opened:
            if kind == "arrow":
                return _settled(scan, place)
            if kind == "equal":
                if scan.last_group >= 0:
                    return place
                scan.equal = place if scan.equal < 0 else scan.equal
                continue
            if sign == "{":
                if not _ends_in_word(text[place - 1 : place]):
                    return _settled(scan, place)
                scan.attached = place if scan.attached < 0 else scan.attached
        if kind in ("open", "close", "less", "greater"):
            scan.take(sign, place)
    if scan.attached >= 0:
        return scan.attached
    return scan.opened[0][1] if scan.opened and scan.opened[0][0] != "<" else -1


def _settled(scan: _Scan, place: int) -> int:
    """Return the true start of a body that seems to begin at a brace or arrow: a bare value begins at its "="."""
    return place if scan.equal < 0 or scan.last_group > scan.equal else scan.equal


def _tokens(text: str, *, has_generics: bool) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    at = angles = 0
    while (match := _TOKEN.search(text, at)) is not None:
        kind, at = match.lastgroup or "", match.end()
        if kind == "quote":
            # "'a" is a lifetime of Rust.
            before = text[: match.start()].rstrip()[-1:]
            is_lifetime = _LIFETIME.match(text, match.start()) and (angles > 0 or before in ("<", "&", "+", ":"))
            string = None if is_lifetime else _STRING.match(text, match.start())
            at = string.end() if string else at
        elif kind in ("less", "greater"):
            angles = max(angles + (1 if kind == "less" else -1), 0) if has_generics else 0
            found += [(kind, match[0], match.start())] if has_generics else []
        elif kind != "skip":
            found.append((kind, match[0], match.start()))
    return found

"""Read the name declared in a line: "Gson" of `public final class Gson {`, in any language."""

import re
from collections.abc import Iterator

from cqm.index.text.names.notations import LONGEST
from cqm.index.text.names.parts import dotted

_BLANKS = re.compile(r"\s+")
_MODIFIERS = frozenset(
    _BLANKS.split(
        """
        public private protected internal fileprivate open final abstract sealed static async export default declare
        override virtual inline constexpr consteval constinit extern unsafe pub readonly partial data inner
        companion annotation value expect actual suspend tailrec infix operator external lateinit implicit lazy case
        transient volatile synchronized native strictfp explicit friend indirect mutating nonmutating nonisolated
        convenience required dynamic optional weak unowned local global comptime noinline threadlocal ref file fixed
        typedef reified crossinline vararg const rec given using template distributed isolated package noncomputed
        """.strip()
    )
)
_CALLABLES = frozenset(
    _BLANKS.split(
        """
        def fun func fn function defp defmacro defmacrop defguard defdelegate sub macro macro_rules! procedure
        method subroutine #define init @spec @callback
        """.strip()
    )
)
_TYPES = frozenset(
    _BLANKS.split(
        """
        class struct enum interface trait type typealias object module namespace protocol extension impl mod union
        record newtype data instance actor annotation @interface defmodule defprotocol defimpl concept typedef
        contract library @type
        """.strip()
    )
)
_VALUES = frozenset({"var", "val", "let", "const", "property", "static", "given"})
_KEYWORDS = _CALLABLES | _TYPES | _VALUES
_STATEMENTS = frozenset(
    _BLANKS.split(
        """
        return throw throws new else await yield if while for switch case not and or in is delete goto assert print
        echo raise go defer using import from use with try catch do unless until match when elif except require
        include package end begin then the a an how why what where to of call see
        """.strip()
    )
)
_PRIMITIVES = frozenset(
    _BLANKS.split(
        """
        void int char bool boolean long short float double unsigned signed byte string auto size_t ssize_t
        """.strip()
    )
)

_WORD = re.compile(r"([@#]?[A-Za-z_]+!?)(?:\([\w:, ]{0,40}\))?(?=\s|<)\s*")
_ATTRIBUTE = re.compile(
    r"(?:@(?!(?:spec|callback|type|interface)\b)[\w.]+(?:\([^()]{0,100}\))?|#!?\[[^\[\]]{0,100}\]|\[[A-Z][^\[\]]{0,100}\]|\[\[[^\[\]]{0,60}\]\])\s+"
)
_PART = r"~?[$@`]?[^\W\d][\w$]*`?'{0,3}[?!=]?(?!\w)"
_SIGN = r"\[\]=?|[^\w\s.,;:'\"`(){}\[\]\\@$#][^\w\s.,;'\"`(){}\[\]\\@$]{0,7}|:[^\w\s.,;'\"`(){}\[\]\\@$]{1,7}"
_NAME = re.compile(rf"(?:{_PART}(?:\.|::|\\|:(?=\w)))*(?:operator\s?(?:\(\)|{_SIGN})|{_PART}|{_SIGN})|\((?:{_SIGN})\)")
_RECEIVER = re.compile(r"\(\s*(?:\w+\s+)?[*&]?(\w+)(?:\[[\w, ]{0,60}\])?\s*\)\s*(?=\w)")
_SELF = re.compile(r"(?:self|this|cls)[.:]")
_SHOUTED = re.compile(r"[A-Z][A-Z0-9_]+(?:\([^()]{0,60}\))?\s+(?=[A-Za-z_]\w*\s*(?:[{:;<]|final\b|$))")
_PREDICATE = re.compile(r"def [\w.]+\?")
_PLAIN_WORD = re.compile(r"[a-z]+")
_SIGNS = re.compile(r"[(;={:]")

_AFTER_TYPE = re.compile(
    r"\s*(?:$|[{<\[;=(,]|:(?!:)|=|\b(?:extends|implements|with|where|struct|interface|is|do|of|as|throws|deriving|final"
    r"|permits|derives|class|enum|func|chan|map|string|bool|error|u?int\d*|float\d+|byte|rune|internal|private|protected"
    r"|constructor|async|on|from)\b|\*|(?:[a-z]\w?\s+){0,6}[a-z]?\w?\s*(?:=|where\b|$))"
)
_AFTER_CALLABLE = re.compile(
    r"\s*(?:$|[({<\[=:;,]|->|(?:when|do|throws|where|with|is|as|as_)\b|[a-z_]\w*\s*(?:[,=]|$))"
)
_AFTER_VALUE = re.compile(r"\s*(?:$|[:=;,({<\[]|by\b|get\b)")
_ENDS = ("{", "(", ":", ";", "=", " do", ",", "}", ")", "=>", "->")
_TYPED = re.compile(
    r"(?P<type>[A-Za-z_][\w:.]*[\w:.<>,?*&\[\] ]{0,120}?[\s*&>\]])"
    r"(?P<name>~?(?:\w+(?:<[^<>]{0,60}>)?::)*(?:operator[^\w\s(]{1,3}|~?[A-Za-z_]\w*))\s*"
    r"(?P<after>\(|;$|=(?!=)|\{)"
)
_TYPED_PARAMETER = re.compile(r"\s*(?:[\w@]+[\w:.<>,?\[\]]*[\s*&]+){1,5}\w+\s*(?:=.*|\[\d*\])?|\s*void\s*|\s*\.\.\.\s*")
_ASSIGNED = re.compile(
    r"(?P<name>[\w$]+(?:[.:][\w$]+)*)\s*(?::=?|=)\s*(?:\([^()]{0,300}\)\s*=>|(?:async\s*)?(?:function\b|\(|\w+\s*=>)"
    r"|(?:packed |extern )?(?:struct|enum|union|class|interface)\b|(?:Struct|Class|Module)\.new|\{$|\[$)"
)
_METHOD = re.compile(r"(?P<name>#?[A-Za-z_$][\w$]*[?!]?)\s?\([^()]{0,300}\)(?:\s*:\s*[\w<>\[\]|., ]{1,80})?\s*\{")
_HASKELL = re.compile(r"(?P<name>[a-z_][\w']*(?:\s*,\s*[a-z_][\w']*)*|\([^\w\s()]{1,8}\))\s+::\s+\S")


def declared(text: str) -> Iterator[str]:
    """Yield the names declared in a line of code, the most probable first, with "." between their parts.

    Only a whole line with the shape of a declaration is one: "class Gson" and "type inference {" are, "type inference"
    and "class loading in tests" are sentences. Nothing tells whether there is such a symbol.
    """
    text = text.strip().strip("`").strip()
    if "\n" in text or len(text) > LONGEST or (text.endswith("?") and not _PREDICATE.fullmatch(text)):
        return
    line = _without_attributes(text)
    words, rest = _leading(line)
    # A declaration without a keyword has a sign; most questions have neither.
    others = (*_typed(line, words), *_others(rest if words else line)) if _SIGNS.search(line) else ()
    for written in (*_after_keyword(words, rest), *others):
        name = dotted(_SELF.sub("", written, count=1).strip("()").replace("`", ""))
        yield name
        if (last := name.rpartition(".")[2]) and last != name:
            yield last


def _without_attributes(line: str) -> str:
    for _ in range(4):
        found = _ATTRIBUTE.match(line)
        if not found:
            break
        line = line[found.end() :]
    return line


def _leading(line: str) -> tuple[list[str], str]:
    """Return the modifiers and keywords at the start of a line, without those in angle brackets, and the rest."""
    words, rest = list[str](), line
    while (found := _WORD.match(rest)) and found[1] in _MODIFIERS | _KEYWORDS:
        # A name may be a keyword: `type data struct {`.
        if words and words[-1] in _KEYWORDS and not _NAME.match(rest[found.end() :]):
            break
        words.append(found[1])
        rest = _without_generics(rest[found.end() :])
    return words, rest


def _without_generics(rest: str) -> str:
    """Cut type parameters at the start of a text: "<T, F: Fn(T)> f(x)" gives "f(x)"."""
    if not rest.startswith("<") or not re.match(r"<[\s\w?]", rest):
        return rest
    depth = 0
    for at, sign in enumerate(rest):
        depth += (sign == "<") - (sign == ">" and rest[at - 1] not in "-=")
        if depth == 0:
            return rest[at + 1 :].lstrip()
    return rest


def _after_keyword(words: list[str], rest: str) -> Iterator[str]:
    """Yield the name after keywords, if the text after it may follow a declared name."""
    kinds = [word for word in words if word in _KEYWORDS]
    if not kinds:
        return
    kind = kinds[-1]
    receiver = _RECEIVER.match(rest) if kind == "func" else None
    rest = rest[receiver.end() :] if receiver else rest
    if kind in {"impl", "defimpl", "instance"} and (found := re.search(r"\bfor:?\s+([\w.:]+)", rest)):
        yield found[1]
    if kind in _TYPES and (found := _SHOUTED.match(rest)):
        rest = rest[found.end() :]
    # Kotlin's receivers may have arguments: List<T>.first().
    rest = re.sub(r"(?<=\w)<[^<>]{0,60}>\??(?=\.\w)", "", rest, count=1)
    found = _NAME.match(rest)
    if found and _may_follow(kind, found[0], rest[found.end() :], is_led=len(words) > 1):
        yield f"{receiver[1]}.{found[0]}" if receiver else found[0]
    elif found and kind == "class" and (inner := re.search(r"=>\s+([A-Z]\w*)", rest)):
        yield inner[1]


def _may_follow(kind: str, name: str, after: str, *, is_led: bool) -> bool:
    pattern = _AFTER_CALLABLE if kind in _CALLABLES else _AFTER_TYPE if kind in _TYPES else _AFTER_VALUE
    if not pattern.match(after) or (kind != "type" and after.lstrip().startswith("*")):
        return False
    if not _PLAIN_WORD.fullmatch(name):
        return True
    # "type inference", "module loading: how", "class methods (static)" are topics.
    after = after.strip()
    if kind in _CALLABLES:
        return bool(after) and (is_led or after[0] in "({<[=:" or after.endswith(_ENDS))
    if kind in _VALUES:
        return bool(after) and bool(re.match(r"[=;]|:\s*[\w.<>?\[\]]+\s*(?:=.*|,|;)?$", after))
    return bool(after) and (after[0] in "{=;<" or (after.endswith(("{", ":", ";", " do")) and after[0] != "("))


def _typed(line: str, words: list[str]) -> Iterator[str]:
    """Yield the name of a function or field with its type before it, as in C, Java and C#."""
    bare = line
    while (found := _WORD.match(bare)) and found[1] in _MODIFIERS:
        bare = _without_generics(bare[found.end() :])
    found = _TYPED.match(bare)
    is_led = any(word in _MODIFIERS for word in words)
    if not found:
        # A constructor: public JsonWriter(Writer out) {
        if is_led and (made := re.match(r"(\w+)\s*\(", bare)) and made[1] not in _STATEMENTS:
            yield made[1]
        return
    before = re.findall(r"\w+", found["type"])
    if any(word in _STATEMENTS for word in before) or found["name"] in _STATEMENTS:
        return
    after = line.rstrip()
    is_typed = is_led or any(word in _PRIMITIVES for word in before) or after.endswith(("{", ";"))
    if found["after"] == "(":
        inside = bare[found.end() :].rpartition(")")[0] or bare[found.end() :].rstrip(" ,")
        parts = [part for part in split_parameters(inside) if part.strip()]
        if is_typed or (parts and all(map(_TYPED_PARAMETER.fullmatch, parts))):
            yield found["name"]
    elif is_led or (is_typed and found["after"] != "{"):
        yield found["name"]


def _others(line: str) -> Iterator[str]:
    """Yield the name of an assigned function or type, of a method with its body, of a signature in Haskell."""
    for pattern in (_ASSIGNED, _METHOD, _HASKELL):
        if (found := pattern.match(line)) and found["name"] not in _STATEMENTS:
            yield found["name"].partition(",")[0].strip()


def split_parameters(inside: str) -> list[str]:
    """Split parameters at commas outside of brackets."""
    parts, depth, start = list[str](), 0, 0
    for at, sign in enumerate(inside):
        depth += (sign in "<([{") - (sign in ">)]}" and (sign != ">" or inside[at - 1] not in "-="))
        if sign == "," and depth <= 0:
            parts.append(inside[start:at])
            start = at + 1
    return [*parts, inside[start:]]

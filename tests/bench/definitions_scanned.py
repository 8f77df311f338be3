"""Find the definitions of Kotlin, Swift and C# by patterns and braces: a source independent of CQM's grammars.

Comments and texts are blanked first; then a scope is known by the declaration before its brace. A file whose brackets
don't match in the end is left out. Members of anonymous objects don't count, nor do variables inside functions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Found = tuple[int, str]
"""A line, from 1, and a name; one that begins with "?" may be a definition, by another reading."""

_BLANK = {
    "kotlin": r'"""[\s\S]*?"{3,}|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*[\s\S]*?\*/',
    "swift": r'(#*)"""[\s\S]*?"""\1|(#*)"(?:\\.|[^"\\\n])*"\2|//[^\n]*|/\*[\s\S]*?\*/',
    "csharp": r'\$*"""[\s\S]*?"{3,}|(?:\$@|@\$|@)"(?:""|[^"])*"|\$?"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|'
    r"/\*[\s\S]*?\*/|(?m:^[ \t]*#[^\n]*)",
}
_TYPED = r"(?:<(?:[^<>]|<[^<>]*>)*>\s*)?"
_RECEIVER = r"(?:[\w.]+(?:<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)?\??\s*\.\s*)*"
_DECLARED = {
    "kotlin": rf"(?<![\w:.@])(?:(?P<type>class|interface|object)\s+(?P<type_name>`[^`]+`|\w+)"
    rf"|(?P<companion>companion\s+object)\b|(?P<anonymous>object)\s*[:{{]|fun\s+{_TYPED}{_RECEIVER}(?P<function>`[^`]+`|\w+)\s*(?=\()"
    rf"|(?:val|var)\s+{_TYPED}{_RECEIVER}(?P<value>`[^`]+`|\w+)|typealias\s+(?P<alias>\w+)|(?P<constructor>constructor)\s*(?=\())",
    "swift": r"(?<![\w.@#`])(?<!import )(?:(?P<type>class|struct|enum|protocol|actor)\s+"
    r"(?!func\b|var\b|let\b|subscript\b)(?P<type_name>\w+)|(?P<extension>extension)\s+[\w.]+"
    r"|func\s+(?P<function>`?\w+`?|[^\s\w(]+?(?=\s|\(|<[A-Z]))|(?:var|let)\s+(?P<value>`?\w+`?)"
    r"|(?:typealias|associatedtype)\s+(?P<alias>\w+)|(?P<constructor>init|deinit|subscript)\b(?=[?!]?\s*[<({])"
    r"|(?P<case>case)\s+(?P<cases>[^\n{}]+))",
}
_WORD = re.compile(r"@?`?(\w+)`?")


@dataclass
class _Scope:
    """All that a bracket opened: "type", "enum", "function", "anonymous", "parameters" or any other block."""

    kind: str
    dead: bool = False
    declared: str = ""
    entries: bool = field(default=False)


def scanned(text: str, language: str) -> list[Found] | None:
    """Return the definitions of a text; None if its brackets don't match."""
    blank = re.sub(_BLANK[language], lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = _csharp(blank) if language == "csharp" else _braced(blank, language)
    return (
        None
        if found is None
        else [(blank.count("\n", 0, at) + 1, name.replace("`", "").strip("@")) for at, name in found]
    )


def _braced(text: str, language: str) -> list[Found] | None:  # noqa: C901, PLR0912, PLR0915 - one token, one branch
    found: list[Found] = []
    scopes = [_Scope("type")]
    pending = ""
    for token in re.finditer(rf"(?P<open>[{{(])|(?P<close>[}})])|(?P<line>\n)|{_DECLARED[language]}", text):
        groups = {name: value for name, value in token.groupdict().items() if value is not None}
        scope = scopes[-1]
        if opening := groups.get("open"):
            if opening == "(":
                is_primary = language == "kotlin" and pending in ("type", "enum") and scope.kind != "parameters"
                scopes.append(_Scope("parameters" if is_primary else "call", scope.dead))
                continue
            scopes.append(_Scope(pending or "block", scope.dead or pending == "anonymous"))
            if pending == "enum" and language == "kotlin":
                found += _entries(text, token.end())
            pending = ""
        elif "close" in groups:
            if len(scopes) == 1:
                return None
            scopes.pop()
        elif "line" in groups:
            continue
        elif scope.dead:
            name = groups.get("function") or groups.get("type_name")
            found += [(token.start(), f"?{name}")] if name else []
        elif name := groups.get("type_name"):
            is_enum = groups["type"] == "enum" or bool(
                re.search(r"\benum\s*$", text[max(token.start() - 30, 0) : token.start()])
            )
            pending = "enum" if is_enum else "type"
            found.append((token.start("type_name"), name))
        elif "companion" in groups:
            named = re.match(r"\s*(\w+)", text[token.end() : token.end() + 80])
            pending = "type"
            if not named or "\n" in named[0]:
                found.append((token.start(), "Companion"))
        elif "anonymous" in groups:
            pending = "anonymous"
            if token[0].endswith("{"):
                scopes.append(_Scope("anonymous", dead=True))
                pending = ""
        elif "extension" in groups:
            pending = "type"
        elif name := groups.get("function"):
            pending = "function"
            found.append((token.start("function"), name))
        elif name := groups.get("value"):
            if scope.kind in ("type", "enum", "parameters"):
                found.append((token.start("value"), name))
                pending = pending if scope.kind == "parameters" else "function"
        elif name := groups.get("alias"):
            found.append((token.start("alias"), name))
        elif name := groups.get("constructor"):
            if language == "kotlin" and pending in ("type", "enum"):
                continue
            if scope.kind in ("type", "enum"):
                found.append((token.start("constructor"), name))
                pending = "function"
        elif "case" in groups and scope.kind == "enum":
            found += _cases(groups["cases"], token.start("cases"))
    return found if len(scopes) == 1 else None


def _entries(text: str, start: int) -> Iterator[Found]:
    """Yield the entries of a Kotlin enum whose body starts there."""
    depth, wanted, at = 0, True, start
    for token in re.finditer(r"[{(\[]|[})\]]|,|;|@\w+|`?\w+`?", text[start:]):
        sign, at = token[0], start + token.start()
        if sign in "{([":
            depth += 1
        elif sign in "})]":
            depth -= 1
            if depth < 0:
                return
        elif depth:
            continue
        elif sign == ";":
            return
        elif sign == ",":
            wanted = True
        elif wanted and not sign.startswith("@"):
            if sign in ("fun", "val", "var", "companion", "override"):
                return
            wanted = False
            yield at, sign


def _cases(names: str, start: int) -> Iterator[Found]:
    """Yield the names of `case a, b(Int)`."""
    depth, wanted = 0, True
    for token in re.finditer(r"[({<\[]|[)}>\]]|,|=|`?\w+`?", names):
        sign = token[0]
        if sign in "({<[":
            depth += 1
        elif sign in ")}>]":
            depth -= 1
        elif depth == 0 and sign == ",":
            wanted = True
        elif depth == 0 and wanted and sign != "=":
            wanted = False
            yield start + token.start(), sign


_CS_TYPE = re.compile(
    r"\b(class|struct|interface|enum|record(?:\s+(?:struct|class))?|namespace)\s+(?P<name>@?\w[\w.]*)"
)
_CS_NOT = re.compile(
    r"^\s*(?:using|extern|return|case|default|global|throw|else|if|while|foreach|lock|switch|get|set|add|remove)\b"
)


def _csharp(text: str) -> list[Found] | None:  # noqa: C901, PLR0912 - one token, one branch
    found: list[Found] = []
    scopes = ["namespace"]
    head = 0
    closed = False
    brackets = 0
    for token in re.finditer(r"[{};,()\[\]]|=>|(?<![=!<>])=(?![=>])", text):
        sign, scope = token[0], scopes[-1]
        if sign in "([":
            brackets += 1
        elif sign in ")]":
            brackets -= 1
        elif sign == "}":
            if scope == "enum" and not closed:
                found += _cs_entry(text, head, token.start())
            if len(scopes) == 1:
                return None
            scopes.pop()
            head, closed, brackets = token.end(), False, 0
        elif sign == "{":
            kind = "block"
            if scope in ("namespace", "type") and not closed and not brackets:
                kind, more = _cs_head(text, head, token.start())
                found += more
            scopes.append(kind)
            head, closed, brackets = token.end(), False, 0
        elif brackets:
            continue
        elif sign == ";":
            if scope in ("namespace", "type") and not closed:
                found += _cs_head(text, head, token.start())[1]
            head, closed = token.end(), False
        elif sign in ("=", "=>"):
            if (
                scope in ("namespace", "type")
                and not closed
                and not text[head : token.start()].rstrip().endswith("operator")
            ):
                found += _cs_head(text, head, token.start())[1]
                closed = True
            elif scope == "enum" and not closed:
                found += _cs_entry(text, head, token.start())
                closed = True
        elif sign == "," and scope == "enum":
            if not closed:
                found += _cs_entry(text, head, token.start())
            head, closed = token.end(), False
    return found if len(scopes) == 1 else None


def _cs_entry(text: str, start: int, end: int) -> Iterator[Found]:
    shown = re.sub(r"\[[^\]]*\]", lambda it: " " * len(it[0]), text[start:end])
    if name := _WORD.search(shown):
        yield start + name.start(1), name[1]


def _cs_head(text: str, start: int, end: int) -> tuple[str, list[Found]]:  # noqa: PLR0911 - one form, one branch
    shown = text[start:end]
    while attribute := re.match(r"(\s*)(\[(?:[^\[\]]|\[[^\[\]]*\])*\])", shown):
        shown = attribute[1] + " " * len(attribute[2]) + shown[attribute.end() :]
    if _CS_NOT.match(shown) or not shown.strip():
        return "block", []
    if (kind := _CS_TYPE.search(shown)) and "(" not in shown[: kind.start()]:
        word = kind[1].split()[0]
        names = [] if word == "namespace" else [(start + kind.start("name"), kind["name"])]
        if word == "record" and (parameters := re.match(r"(?:<[^>]*>)?\s*\((.*)", shown[kind.end() :], re.DOTALL)):
            names += _cs_parameters(parameters[1], start + kind.end() + parameters.start(1))
        return {"enum": "enum", "namespace": "namespace"}.get(word, "type"), names
    shown = re.split(r"\bwhere\s+\w+\s*:", shown)[0]
    if re.search(r"\boperator\b", shown):
        return "block", []
    if re.search(r"\bthis\s*\[", shown):
        return "block", [(start + shown.index("this"), "this[]")]
    flat = re.sub(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", lambda it: " " * len(it[0]), shown)
    method = re.search(r"(~?@?\w+)\s*\(", flat)
    if method and not flat[: method.start()].strip().endswith(":"):
        name = method[1]
        if name in ("public", "private", "internal", "static", "readonly", "protected", "override"):
            # A tuple comes first: "public (int a, int b) Name".
            method = re.search(r"\)\s*\??\s*(@?\w+)", flat)
            return "block", [(start + method.start(1), method[1])] if method else []
        return "block", [(start + method.start(1), name)]
    names = []
    last = re.search(r"(@?\w+(?:\s*,\s*@?\w+)*)\s*$", flat)
    is_declared = last and re.search(r"[\w>\]?*)]\s+$", flat[: last.start()])
    if last and is_declared and not re.search(r"\bevent\b.*\{", flat) and flat[: last.start()].strip():
        names = [(start + last.start(1) + it.start(), it[0]) for it in re.finditer(r"@?\w+", last[1])]
    return "block", names


def _cs_parameters(text: str, start: int) -> Iterator[Found]:
    depth = 0
    begin = 0
    for at, sign in enumerate(text):
        if sign in "([<{":
            depth += 1
        elif sign in ">]}" or (sign == ")" and depth):
            depth -= 1
        if (sign == "," and depth == 0) or (sign == ")" and depth == 0 and at):
            if name := re.search(r"@?\w+\s*(?:=.*)?$", text[begin:at].rstrip(), re.DOTALL):
                word = re.match(r"@?\w+", name[0])
                if word and not (sign == ")" and depth < 0):
                    yield start + begin + name.start(), word[0]
            begin = at + 1
            if sign == ")":
                return

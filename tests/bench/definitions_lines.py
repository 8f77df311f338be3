"""Find the definitions of Haskell, PowerShell and Objective-C by their lines, without CQM's grammars."""

import re
from collections.abc import Iterator

Found = tuple[int, str]
"""A line, from 1, and a name."""

_HASKELL_NAME = r"(?:[a-z_][\w']*|\([^\w\s()]+\))"


def scanned_haskell(text: str) -> list[Found]:  # noqa: C901 - one form, one branch
    """Return the definitions of Haskell: signatures, equations without one, types, constructors, fields of records."""
    blank = re.sub(
        r'(?s)\{-.*?-\}|"(?:\\.|[^"\\\n])*"|(?m:(?<![^\s\w,;()\[\]])--+(?![^\s\w,;"\'()\[\]{}|`])[^\n]*)',
        lambda it: re.sub(r"[^\n]", " ", it[0]),
        text,
    )
    found: list[Found] = []
    signed: set[str] = set()
    holder = ""
    lines = blank.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("#", "import", "module", "infix", "deriving")):
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0:
            holder = line.split()[0]
        words = re.findall(r"[\w']+", line)
        if indent == 0 and holder in ("data", "newtype", "type", "class"):
            head = re.split(r"=>", re.split(r"\bwhere\b|=(?!>)|\|", line)[0] if holder != "class" else line)[-1]
            words = re.findall(r"[A-Z][\w']*", head.partition("::")[0])
            if words and "instance" not in line.split()[:2]:
                found.append((number, words[0]))
            signed = set()
        elif holder == "class" and (names := re.match(rf"\s+({_HASKELL_NAME}(?:\s*,\s*{_HASKELL_NAME})*)\s*::", line)):
            found += [(number, it.strip("()")) for it in re.findall(_HASKELL_NAME, names[1])]
        elif indent == 0 and (names := re.match(rf"({_HASKELL_NAME}(?:\s*,\s*{_HASKELL_NAME})*)\s*(?:::|$)", line)):
            of_line = {it.strip("()") for it in re.findall(_HASKELL_NAME, names[1])}
            if "::" in line or (number < len(lines) and lines[number].lstrip().startswith("::")):
                found += [(number, it) for it in of_line]
                signed |= of_line
        elif (
            indent == 0
            and (equation := re.match(rf"({_HASKELL_NAME})(?=\s|$)", line))
            and ("=" in line or "|" in "".join(lines[number : number + 2]))
            and equation[1].strip("()") not in signed
            and holder not in ("instance", "foreign", "pattern", "default")
        ):
            found.append((number, equation[1].strip("()")))
            signed.add(equation[1].strip("()"))
    for it in re.finditer(r"(?m)^(?:data|newtype)\b(?!\s+family)[^\n]*(?:\n(?:[ \t]+[^\n]*|[ \t]*))*", blank):
        found += _constructors(it[0], blank.count("\n", 0, it.start()) + 1)
    return found


def _constructors(text: str, line: int) -> Iterator[Found]:
    body = re.split(r"\n?\s+deriving\b", text)[0]
    if (gadt := re.search(r"\bwhere\b", body)) and "=" not in body[: gadt.start()]:
        for it in re.finditer(r"(?m)^\s+([A-Z][\w']*)\s*::", body):
            yield line + body.count("\n", 0, it.start(1)), it[1]
        return
    start = body.find("=")
    for it in re.finditer(
        r"[=|]\s*(?:forall[^.]*\.\s*)?(?:[^|{}=]*=>\s*)?!?([A-Z][\w']*)", body[start:] if start >= 0 else ""
    ):
        yield line + body.count("\n", 0, start + it.start(1)), it[1]
    for record in re.finditer(r"\{([^{}]*)\}", body):
        for names in re.finditer(r"(?:^|,)\s*([a-z_][\w']*(?:\s*,\s*[a-z_][\w']*)*)\s*::", record[1]):
            for it in re.finditer(r"[\w']+", names[1]):
                yield line + body.count("\n", 0, record.start(1) + names.start(1) + it.start()), it[0]


def scanned_powershell(text: str) -> list[Found]:
    """Return the functions and classes of PowerShell."""
    blank = re.sub(r"(?s)<#.*?#>|@'.*?\n'@|@\".*?\n\"@|#[^\n]*", lambda it: re.sub(r"[^\n]", " ", it[0]), text)
    found = re.finditer(r"(?im)(?:^|[{;|])[ \t]*(?:function|filter|workflow)[ \t]+((?:\w+:)?[\w-]+)", blank)
    return [(blank.count("\n", 0, it.start(1)) + 1, it[1]) for it in found]


def scanned_objc(text: str) -> list[Found]:
    """Return the types, methods and properties of Objective-C."""
    blank = re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/', lambda it: re.sub(r"[^\n]", " ", it[0]), text)
    types = re.finditer(r"(?m)^[ \t]*@(?:interface|implementation|protocol)\s+(\w++)(?![ \t]*[;,])", blank)
    found = [(blank.count("\n", 0, it.start(1)) + 1, it[1]) for it in types]
    for it in re.finditer(r"(?m)^[ \t]*[-+]\s*\([^;{}]*?(?=[;{]|\n[ \t]*\n)", blank):
        flat = it[0]
        while "(" in flat:
            shorter = re.sub(r"\([^()]*\)", " ", flat)
            if shorter == flat:
                break
            flat = shorter
        names = re.findall(r"(\w*)\s*:", flat) or re.findall(r"\w+", flat)[:1]
        first = blank.count("\n", 0, it.start()) + 1
        word = re.search(rf"\)[^()\n]*\b{names[0]}\b", blank[it.start() : it.end()]) if names and names[0] else None
        line = first + blank.count("\n", it.start(), it.start() + word.start()) if word else first
        if names:
            found.append((line, "".join(f"{name}:" for name in names) if ":" in flat else names[0]))
    return found

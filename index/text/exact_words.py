"""The words of a question to take literally: error codes, quoted phrases, names, pasted messages."""

import re
from collections.abc import Mapping

from cqm.index.text.reports.heads import without_log_head
from cqm.index.text.terms import QUESTION_WORDS, content_words

_FEW = 4

_SIGNALS = (
    *("ENOENT", "EACCES", "EPERM", "EEXIST", "ECONN[A-Z]+", "ETIMEDOUT", "EADDR[A-Z]+", "EPIPE", "EAGAIN", "EINVAL"),
    *("ENOTFOUND", "EMFILE", "ENOMEM", "EHOSTUNREACH", "ENOTEMPTY", "EISDIR", "ENOTDIR", "EBADF"),
)
_STANDARDS = "SHA|AES|RFC|ISO|UTF|RSA|CVE|HTTP|IPV|X|MP|CP|GB"
"""Words before a number that is no error code."""
_CODE = re.compile(
    rf"\b(?=[A-Z])(?!(?:{_STANDARDS})\d)"
    rf"(?:[A-Z]{{1,5}}\d{{3,5}}|ERR_[A-Z0-9_]+|[A-Z]{{0,8}}E_[A-Z0-9_]{{3,}}|ORA-\d{{5}}|{'|'.join(_SIGNALS)})\b"
)
_QUOTE = re.compile("[\"'`“„«「『]")
_PHRASE = re.compile(
    r"\"([^\"\n]{8,200})\"|“([^“”\n]{8,200})”|(?<!\w)'([^'\n]{8,200})'(?!\w)|(?<!`)`([^`\n]{8,200})`(?!`)"
    # Quotes of German, French and Russian, Japanese and Chinese.
    r"|„([^„“”\n]{8,200})[“”]|«\s?([^«»\n]{8,200}?)\s?»|「([^「」\n]{8,200})」|『([^『』\n]{8,200})』"
)
_HEADS = 2
_LEVEL = re.compile(
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|[1-5]\d\d)(?::[\w.]{1,80}:|[ \t]+(?=\S+[ \t]))"
)
"""A level of a log, or a status of HTTP, before a message; Python's `logging` writes `ERROR:root:`."""
_LEAST_COPIED, _MOST_COPIED = 3, 2000
"""Words and characters of text copied from a file: fewer words are in many chunks, more are a document."""
_LEAST_CAPTION = 2
_MOST_OF_TOPIC = 5
"""Words."""
_WORD = re.compile(r"\w+")
_TICKED = re.compile(r"(?<!`)`([^`\n]{2,80})`(?!`)")
_PART, _MARK, _BETWEEN = r"[A-Za-z_$][\w$]*", "[?!]?", r"(?:\.|::|#|->)"
"""Patterns of a name in prose: ASCII only, as other letters are of other languages' words."""
_NAME = re.compile(rf"{_PART}(?:{_BETWEEN}{_PART})*{_MARK}(?:\(\))?")
_CALLED = re.compile(rf"(?<![\w.$])((?:{_PART}{_BETWEEN}){{0,6}}{_PART}{_MARK})\(\)")
_IDENTIFIER = re.compile(rf"(?<![\w./$-]){_PART}{_MARK}(?:(?:{_BETWEEN}|\\){_PART}{_MARK}){{0,8}}(?![\w/-])")
_HYPHENATED_WORD = re.compile(
    r"(?<![\w./$*+-])(?:[*+]?[A-Za-z_][\w.]{0,60}(?:-{1,2}\w[\w.]{0,60}){1,8}[?!*+]{0,2}"
    r"|\*[A-Za-z_]\w{1,60}\*|\+[A-Za-z_]\w{1,60}\+)(?![\w/*+-])"
)
"""A word with hyphens: a name of Lisps and shells, or of prose; so one that nothing defines is no name."""
_FENCED = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]{0,40}\n(.+?)^[ \t]*(?:```|~~~)", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(
    r"(?:(?:\A|\n[ \t]*\n)(?=(?: {4}|\t)[^\n]*\S))((?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n(?= {4}|\t))+)"
)
_MOST_BLOCKS = 3
_MOST_READ = 20_000
"""Characters of a text to search for blocks and names; a log may have megabytes."""
_ASKING = re.compile(
    r"\W*(?:how|where|what|which|why|who|when|does|do|is|are|can|should|i|we|please|add|implement|refactor|update|make"
    r"|create|write|fix|find|show|explain|list|remove|delete|support|tell|give|describe|rename|change|move|use|try|check"
    r"|look|let|allow|handle|move|replace|improve|test|document)\b",
    re.IGNORECASE,
)
_OF_MESSAGE = re.compile(r"[:;|=<>{}\\%$]|\w\(|[\"'`](?=\W|$)|(?<!\w)[\"'`-]|[.)\]!]$|(?<![\w.])\d|(?<!\w)/|@")
"""Signs of a program's message; most questions have none of them."""
_VALUES = r"\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{0,200}'(?!\w)|(?<!\w)--?\w[\w-]*|\S*[\d/\\@$%{}<>=]\S*"
_VALUE = re.compile(_VALUES)
_DIVIDING = re.compile(rf"{_VALUES}|[:;|]\s| \(")
"""Between the literal parts of a message."""
_VALUE_WEIGHT = 0.25
"""Weight of a character in a likely value: a test may have it by chance, and the message itself may have `@Body`."""
_LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.){8,300}\"|'(?:[^'\\\n]|\\.){8,300}'|`(?:[^`\\\n]|\\.){8,300}`")
_ESCAPED = re.compile(r"\\([\"'`\\])")
_PLACEHOLDER = re.compile(
    r"%(?:\(\w{1,40}\))?[-+ #0]{0,4}\d{0,4}(?:\.\d{1,4})?(?:hh|ll|[hlzjt])?[a-zA-Z@]"
    r"|[$#]?\{[^{}\n]{0,80}\}|\$[A-Za-z_]\w{0,60}(?:->\w{1,60})*"
)
"""A value in a format string: of C, Python, Go, Rust, C#, JavaScript, Ruby, PHP, Kotlin and Elixir."""
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_OF_FORMAT, _LEAST_FORMAT_SHARE = 12, 0.5
"""Least letters of a message in its format string, and their share: many programs have "%s is not %s"."""
_SPACED = re.compile(r"\S+")
_MOST_PARTS = 3
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w|^_+\w|\w(?:::|#|->)\w|^[A-Z]\w*(?:\.[A-Z]\w*)+")
_PLAIN_WORDS = frozenset({
    "define", "defined", "definition", "defines", "declare", "declared", "declaration", "implement",
    "implemented", "implementation", "located", "location", "live", "lives", "find", "show", "get", "see", "look",
    "open", "explain", "describe", "describes", "summarize", "understand", "tell", "give", "help", "purpose",
    "meaning", "mean", "means", "call", "calls", "called", "calling", "caller", "callers", "usage", "usages",
    "reference", "references", "responsible", "source", "code", "body", "signature", "line", "lines", "file",
    "fix", "bug", "bugs", "issue", "problem", "wrong", "broken", "add", "remove", "rename", "change", "refactor",
    "parameter", "parameters", "argument", "arguments", "type", "class", "method", "function", "struct", "enum",
    "interface", "trait", "protocol", "module", "macro", "constant", "variable", "field", "property",
    "constructor", "object", "record", "namespace", "package", "symbol", "return", "returns", "do", "does",
    "please", "exactly", "about", "itself", "wo", "ist", "wird", "was", "macht", "wie", "funktioniert",
    "definiert", "finde", "zeige", "erkläre", "wer", "ruft", "auf", "die", "der", "das", "den", "funktion",
    "klasse", "methode",
})  # fmt: skip
"""Words of a sentence asking about a symbol itself."""
_AROUND_SIGN = re.compile(r" ?([^\w\s]) ?")
_OF_CODE = re.compile(r"[({;=<>]")
MOST_NAMES = 8
"""Most names of one text to look up."""
_SHORT = 16
"""Most words of a single sentence."""


def codes_in(text: str) -> list[str]:
    """Return the codes of errors in a text, such as E0382, TS2345 and ERR_REQUIRE_ESM; each once, the first few."""
    # Every code has capitals; most questions have none.
    return [] if text.islower() else [*dict.fromkeys(_CODE.findall(text))][:_FEW]


def phrases_in(text: str) -> list[str]:
    """Return the first quoted phrases of several words in a text, each once."""
    if not _QUOTE.search(text):
        return []
    found = (next(filter(None, match.groups())).strip() for match in _PHRASE.finditer(text))
    return [*dict.fromkeys(phrase for phrase in found if " " in phrase)][:_FEW]


def copied_in(text: str) -> list[str]:
    """Return text possibly copied from a file: the whole text, then without heads: "ERROR: ", "409 "."""
    if len(text) > _MOST_COPIED:
        return []
    forms = [text.strip()]
    bare = without_log_head(forms[0]).strip()
    if bare != forms[0] and len(_WORD.findall(_VALUE.sub(" ", bare))) >= _LEAST_COPIED:
        forms.append(bare)
    for _ in range(_HEADS):
        level = _LEVEL.match(forms[-1])
        if not level and ": " not in forms[-1]:
            break
        head, _, rest = (level[0], "", forms[-1][level.end() :]) if level else forms[-1].partition(": ")
        # The text behind "failed: " may be only values.
        if "\n" in head or len(_WORD.findall(_VALUE.sub(" ", rest))) < (2 if level else _LEAST_COPIED):
            break
        forms.append(rest.strip())
    return [form for form in forms if form != forms[0] or len(_WORD.findall(form)) >= _LEAST_COPIED]


def pasted_in(text: str, *, is_prose: bool = False) -> list[str]:
    """Return the surely pasted parts of a text; of prose, only its blocks of code and messages of programs."""
    text = text[:_MOST_READ]
    if "\n" in text.strip():
        blocks = [match[1] for match in _FENCED.finditer(text)] or [match[1] for match in _INDENTED.finditer(text)]
        parts = blocks[:_MOST_BLOCKS] or ([] if is_prose else [text])
    else:
        parts = [without_log_head(text)] if _OF_MESSAGE.search(text) and not _ASKING.match(text) else []
    parts = [part.strip() for part in parts if len(part) <= _MOST_COPIED]
    return [part for part in parts if len(_WORD.findall(part)) >= _LEAST_COPIED]


def literal_parts(text: str) -> list[str]:
    """Return the longest lines of pasted code, or of a message the longest parts between values such as numbers."""
    lines = text.split("\n") if "\n" in text.strip() else _DIVIDING.split(text)
    parts = [line.strip() for line in lines if len(_WORD.findall(line)) >= _LEAST_COPIED]
    return sorted(dict.fromkeys(parts), key=len, reverse=True)[:_MOST_PARTS]


def format_fit(message: str, text: str) -> int:
    """Return how many letters of a message are those of a format string in a text; 0 where no string makes it.

        format_fit("Plugin mail is not there", 'raise Missing(f"Plugin {name} is not there")')  # 16

    Parameters:
        message: of one line, without its head.
    """
    most = max((_letters(it) for it in _LITERAL.finditer(text) if _makes(it[0][1:-1], message)), default=0)
    return most if most >= max(_LEAST_OF_FORMAT, _LEAST_FORMAT_SHARE * len(_LETTER.findall(message))) else 0


def _letters(literal: re.Match[str]) -> int:
    return len(_LETTER.findall(_PLACEHOLDER.sub("", literal[0])))


def _makes(literal: str, message: str) -> bool:
    """Whether a string with placeholders may have made a message."""
    first, *others = _PLACEHOLDER.split(_ESCAPED.sub(r"\1", literal))
    if not others or not message.startswith(first):
        return False
    at = len(first)
    for piece in others:
        found = message.find(piece, at) if piece != others[-1] else len(message) - len(piece)
        if found < at or not message.startswith(piece, found):
            return False
        at = found + len(piece)
    return True


def weighed_words(message: str) -> list[tuple[str, float]]:
    """Return the words of a message of one line in lower case, each with a weight; likely values have less."""
    ends = [(it.start(), it.end()) for it in _VALUE.finditer(message)]
    return [
        (it[0].lower(), _VALUE_WEIGHT if any(start <= it.start() < end for start, end in ends) else 1.0)
        for it in _SPACED.finditer(message)
    ]


def is_caption(text: str) -> bool:
    """Whether a text may be a button, heading or message of an application: a few words, and a capital first."""
    text = text.strip()
    words = len(text.split()) if text[:1].isupper() and "\n" not in text else 0
    return _LEAST_CAPTION <= words <= _SHORT and not _ASKING.match(text)


def is_topic(text: str) -> bool:
    """Whether a text is as likely a topic as a message: a few words, and no sign of a message."""
    return len(text.split()) <= _MOST_OF_TOPIC and not _OF_MESSAGE.search(text)


def is_asking(text: str) -> bool:
    """Whether a text begins as a question or a task does."""
    return _ASKING.match(text) is not None


def saying_it(phrase: str, texts: Mapping[str, str]) -> list[str]:
    """Return the ids of texts with a phrase, in any case and with any blanks; code may have other blanks around signs.

    Parameters:
        phrase: as it is written.
        texts: by id.
    """
    words = phrase.lower().split()
    wanted, lowered = " ".join(words), {name: text.lower() for name, text in texts.items()}
    # Most lack a word of it; this check is quicker than normalising blanks.
    saying = ((name, text) for name, text in lowered.items() if all(word in text for word in words))
    having = [name for name, text in saying if wanted in " ".join(text.split())]
    if having or not _OF_CODE.search(phrase):
        return having
    words, wanted = _WORD.findall(wanted), _tight(wanted)
    return [name for name, text in lowered.items() if all(word in text for word in words) and wanted in _tight(text)]


def _tight(text: str) -> str:
    return _AROUND_SIGN.sub(r"\1", " ".join(text.split()))


def whole_words_of(phrase: str) -> str:
    """Return a phrase without its first and last word, which may be cut."""
    return re.sub(r"\w+$", "", re.sub(r"^\w+", "", phrase))


def names_in(text: str) -> list[str]:
    """Return the identifiers in backticks, each once."""
    found = (match[1].strip() for match in _TICKED.finditer(text))
    return [*dict.fromkeys(name.removesuffix("()") for name in found if _NAME.fullmatch(name))]


def is_spelled_as_name(word: str) -> bool:
    """Whether a word can only be a name of code: snake_case, camelCase, TwoHumps, `Ecto.Adapter`, `a::b`."""
    return _HUMP.search(word) is not None and not (word.isupper() and "_" not in word)


def subject_of(text: str) -> str:
    """Return the one name a plain sentence asks about: "where is get_url defined"; empty for other texts."""
    words = text[:_MOST_COPIED].split()
    if not 1 < len(words) <= _SHORT or "\n" in text.strip():
        return ""
    marked = _marked(text)
    names = marked or [it[0] for it in _IDENTIFIER.finditer(text) if is_spelled_as_name(it[0])]
    names = names or [it[0] for it in _HYPHENATED_WORD.finditer(text.rstrip(" .?!"))]
    if len({*names}) != 1:
        return ""
    rest = content_words(text.replace(names[0], " "))
    return names[0] if all(word.lower() in _PLAIN_WORDS or word.lower() in QUESTION_WORDS for word in rest) else ""


def named_in(text: str) -> list[str]:
    """Return the names marked as such in a text: in backticks, called with `()`, in the title."""
    prose = _FENCED.sub(" ", text[:_MOST_READ])
    title = next((line for line in prose.split("\n") if line.strip()), "") if "\n" in prose.strip() else ""
    title = "" if _OF_CODE.search(title) else title
    titled = [it[0] for it in _IDENTIFIER.finditer(title) if is_spelled_as_name(it[0])]
    return [*dict.fromkeys([*titled, *_marked(prose)])][:MOST_NAMES]


def _marked(text: str) -> list[str]:
    # Most questions mark none.
    if "`" not in text and "()" not in text:
        return []
    hyphenated = (match[1] for match in _TICKED.finditer(text) if _HYPHENATED_WORD.fullmatch(match[1]))
    return [*dict.fromkeys([*names_in(text), *hyphenated, *(match[1] for match in _CALLED.finditer(text))])]

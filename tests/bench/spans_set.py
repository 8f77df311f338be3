"""Questions that a span of lines answers: what a function's doc comment says, asked of code that lacks the comment.

As CodeSearchNet (Husain et al. 2019) makes pairs, with three differences: the answer is looked for among all code of
all packages; the doc comments of all functions are gone from it, so that no other function is found by its own; and
a sentence that still stands somewhere in it, or over two functions, is no question.
"""

import ast
import hashlib
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tree_sitter import Node, Parser

from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.table import BY_NAME

LANGUAGES = {".py": "python", ".js": "javascript", ".ts": "typescript", ".java": "java"}
"""By suffix."""
LEAST_LINES = 4
"""Of a function that is asked for, without its doc comment: shorter ones are declarations, stubs and delegates."""
WORDS = range(4, 31)
"""How many a question may have."""

_FUNCTIONS = frozenset({
    "function_definition", "function_declaration", "generator_function_declaration", "method_definition",
    "method_declaration", "constructor_declaration", "lexical_declaration", "variable_declaration",
    "expression_statement", "public_field_definition",
})  # fmt: skip
_TYPES = frozenset({"class_definition", "class_declaration", "abstract_class_declaration", "interface_declaration"})
_CLOSURES = frozenset({"arrow_function", "function_expression", "generator_function"})
_WRAPPERS = frozenset({"decorated_definition", "export_statement"})
_STOP_WORDS = re.compile(
    r"a|all|an|and|any|are|as|at|be|been|but|by|can|do|does|each|for|from|given|has|have|if|in|into|is|it|its"
    r"|may|no|not|of|on|only|or|return|returns|set|sets|get|gets|that|the|their|then|there|these|this|to|up"
    r"|use|used|using|when|where|whether|which|will|with"
)
_POINTERS = re.compile(r"(see|same as|alias|deprecated|todo|internal|inherit|overrid)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_FIELD = re.compile(
    r"^\s*(@|:\w+[^:]*:|\.\. |>>>|[-=~]{3}|(Args|Arguments|Parameters|Returns|Example|Examples)\b:?\s*$)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence and the function that it described.

    Attributes:
        path: of the function's file, relative to the tree's root.
        start_line, end_line: 1-based, inclusive, in the file without doc comments; with decorators and annotations.
        name: qualified.
        is_apart: whether no word of the sentence stands in the qualified name or the path.
    """

    text: str
    package: str
    language: str
    path: str
    start_line: int
    end_line: int
    name: str
    is_apart: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function as written: rows from 0, both ends inclusive; the doc comment's rows are None without a removable one.

    Attributes:
        is_inner: whether it lies in another function.
    """

    name: str
    first: int
    last: int
    doc: str
    doc_rows: tuple[int, int] | None
    is_inner: bool


def strip_tree(source: Path, tree: Path, package: str) -> Iterator[Question]:
    """Copy a package's files without the doc comments of functions; give a question for each sentence that is one.

    Parameters:
        source: the unpacked package.
        tree: the root to write below, in a folder of the package's name.
    """
    for path in sorted(path for path in source.rglob("*") if path.suffix in LANGUAGES):
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        relative = f"{package}/{path.relative_to(source).as_posix()}"
        language = LANGUAGES[path.suffix]
        found = functions(text, language)
        target = tree / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        lines, line_of = without_docs(text.split("\n"), found)
        target.write_text("\n".join(lines), encoding="utf-8")
        for function in found:
            sentence = first_sentence(function.doc)
            if function.doc_rows is None or function.is_inner or not is_question(sentence, function.name):
                continue
            start, end = line_of[function.first], line_of[function.last]
            if end - start + 1 >= LEAST_LINES:
                is_apart = not stems(sentence) & stems(f"{relative} {function.name}")
                yield Question(sentence, package, language, relative, start, end, function.name, is_apart)


def chosen(questions: Sequence[Question], tree: Path, cap: int) -> list[Question]:
    """The questions that have one answer, at most so many of a package: those whose hashes are the least."""
    texts = Counter(plain(question.text) for question in questions)
    left = "\n".join(plain(path.read_text("utf-8")) for path in sorted(tree.rglob("*")) if path.is_file())
    by_package: dict[str, list[Question]] = defaultdict(list)
    for question in sorted(questions, key=_hash):
        sentence = plain(question.text)
        if texts[sentence] == 1 and sentence not in left and len(by_package[question.package]) < cap:
            by_package[question.package].append(question)
    return sorted(
        (each for some in by_package.values() for each in some), key=lambda each: (each.path, each.start_line)
    )


def _hash(question: Question) -> str:
    return hashlib.sha256(f"{question.path} {question.name} {question.text}".encode()).hexdigest()


def functions(text: str, language: str) -> list[Function]:
    """All functions of a file that have a name, outer ones first."""
    root = Parser(grammar(*BY_NAME[language].grammar)).parse(text.encode()).root_node
    read = _docstring if language == "python" else _doc_comment
    found = []
    waiting: list[tuple[Node, tuple[str, ...], bool]] = [(root, (), False)]
    while waiting:
        node, scope, is_inner = waiting.pop()
        name = _name(node)
        if name and node.type in _FUNCTIONS:
            outer = _wrapped(node)
            doc, rows = read(node)
            found.append(
                Function(".".join((*scope, name)), outer.start_point[0], _last_row(outer), doc, rows, is_inner)
            )
        within = (*scope, name) if name else scope
        inner = is_inner or bool(name and node.type in _FUNCTIONS)
        waiting.extend((child, within, inner) for child in reversed(node.named_children))
    return found


def _name(node: Node) -> str:
    """Return what a node names a function or type; empty when it does not."""
    if node.type in ("lexical_declaration", "variable_declaration", "expression_statement"):
        bound = node.named_children[0] if len(node.named_children) == 1 else None
        if bound is None or bound.type not in ("variable_declarator", "assignment_expression"):
            return ""
        value = bound.child_by_field_name("value") or bound.child_by_field_name("right")
        named = bound.child_by_field_name("name") or bound.child_by_field_name("left")
        return _text(named) if _gives_closure(value) else ""
    if node.type == "public_field_definition":
        return _text(node.child_by_field_name("name")) if _gives_closure(node.child_by_field_name("value")) else ""
    return _text(node.child_by_field_name("name")) if node.type in _FUNCTIONS | _TYPES else ""


def _gives_closure(value: Node | None) -> bool:
    """Whether a value is a function, or a call that is given one ("curry(function (a, b) {...})")."""
    if value is not None and value.type == "call_expression":
        arguments = value.child_by_field_name("arguments")
        return arguments is not None and any(child.type in _CLOSURES for child in arguments.named_children)
    return value is not None and value.type in _CLOSURES


def _text(node: Node | None) -> str:
    return (node.text or b"").decode() if node else ""


def _wrapped(node: Node) -> Node:
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    return node


def _last_row(node: Node) -> int:
    """The last row with something of the node: some grammars end it behind the line end."""
    return int(node.start_point[0]) + (node.text or b"").rstrip().count(b"\n")


def _docstring(node: Node) -> tuple[str, tuple[int, int] | None]:
    """A Python function's docstring and its rows, which are None when something else stands on them."""
    body = node.child_by_field_name("body")
    first = body.named_children[0] if body and len(body.named_children) > 1 else None
    if first is None or first.type != "expression_statement" or first.named_children[0].type != "string":
        return "", None
    literal = _text(first)
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return "", None
    return (inspect.cleandoc(value), _own_rows(first)) if isinstance(value, str) else ("", None)


def _doc_comment(node: Node) -> tuple[str, tuple[int, int] | None]:
    """The text of the /** comment that ends on the row above a function, and its rows."""
    outer = _wrapped(node)
    above = outer.prev_sibling
    if above is None or "comment" not in above.type or not _text(above).startswith("/**"):
        return "", None
    if above.end_point[0] + 1 != outer.start_point[0]:
        return "", None
    lines = _text(above).removeprefix("/**").removesuffix("*/").split("\n")
    return inspect.cleandoc("\n".join(re.sub(r"^\s*\* ?", "", line) for line in lines)).strip(), _own_rows(above)


def _own_rows(node: Node) -> tuple[int, int] | None:
    """The rows of a node that has them to itself."""
    source = _root(node).text or b""
    before = source[: node.start_byte].rpartition(b"\n")[2]
    after = source[node.end_byte :].partition(b"\n")[0]
    return None if before.strip() or after.strip() else (node.start_point[0], node.end_point[0])


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def without_docs(lines: Sequence[str], found: Sequence[Function]) -> tuple[list[str], Sequence[int]]:
    """The lines without doc comments, and by each row from 0 the line from 1 that it becomes."""
    gone = {row for one in found if one.doc_rows for row in range(one.doc_rows[0], one.doc_rows[1] + 1)}
    kept = [row not in gone for row in range(len(lines))]
    return [line for line, keep in zip(lines, kept, strict=True) if keep], list(accumulate(kept))


def first_sentence(doc: str) -> str:
    """The first sentence of a doc comment, as plain text."""
    rows: list[str] = []
    for row in doc.split("\n"):
        described = row.removeprefix("@description ") if not rows else row
        if (rows and not described.strip()) or _FIELD.match(described):
            break
        rows.append(described.strip())
    text = " ".join(rows)
    text = re.sub(r"\{@\w+ ([^}]*)\}|:[\w:]+:`~?([^`]*)`", r"\1\2", text)
    text = re.sub(r"</?(p|b|i|em|br|a|code|pre|ul|li)\b[^>]*>|[`*]", "", text)
    return " ".join(_SENTENCE_END.split(text)[0].split())


def is_question(sentence: str, name: str) -> bool:
    """Whether a sentence may be asked: it is one, says more than the function's own name, and points to no other."""
    words = re.findall(r"[A-Za-z][\w'-]*", sentence)
    content = stems(sentence)
    named = content & stems(name.rpartition(".")[2])
    return (
        len(sentence.split()) in WORDS
        and len(words) in WORDS
        and sentence[0].isalpha()
        and sentence.isascii()
        and not _POINTERS.match(sentence)
        and not re.search(r"https?:|->|[{}=<]|\w\(\w", sentence)
        and len(content) > 1
        and 2 * len(named) <= len(content)
    )


def stems(text: str) -> set[str]:
    """The words that say something, of prose or names, without the endings of English inflection."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)
    return {_stem(word) for word in map(str.lower, words) if len(word) > 1 and not _STOP_WORDS.fullmatch(word)}


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ions", "ion", "ers", "er", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word.removesuffix(ending)
    return word


def plain(text: str) -> str:
    """Words alone, so that a sentence is found again whatever its line ends and signs."""
    return " ".join(re.findall(r"\w+", text.lower()))


def counts(questions: Sequence[Question]) -> Mapping[str, int]:
    """Questions by language."""
    return Counter(question.language for question in questions)

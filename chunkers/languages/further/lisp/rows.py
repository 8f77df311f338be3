"""Define the rows of Common Lisp, Emacs Lisp, Scheme and Racket."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.further.lisp.at_forms import without_at_forms
from cqm.chunkers.languages.further.lisp.calls import USAGE
from cqm.chunkers.languages.further.lisp.forms import Forms, kind_of_head
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    Unread,
    groups,
    role,
    text_of,
)
from cqm.chunkers.languages.unread import RACKET_SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_QUOTING = "'`,#:\""
_MAX_HEAD = 8


def _named(node: "Node | None", source: bytes) -> str:
    """Return the name in "total", "(total lines)", "((curried a) b)", "'total", "#:shop", "(line (:conc-name l-))"."""
    for _ in range(_MAX_HEAD):
        if node is None:
            return ""
        if node.type in ("list", "quote", "syntax") and node.named_children:
            first = node.named_children[0]
            if text_of(first, source) == "setf":
                return " ".join(text_of(node, source).split())
            node = first
            continue
        return text_of(node, source).lstrip(_QUOTING).rstrip('"') if node.type in _NAMES else ""
    return ""


_NAMES = frozenset({"symbol", "keyword", "string"})


def _elements(node: "Node") -> "list[Node]":
    return [it for it in node.named_children if it.type not in ("comment", "block_comment", "sexp_comment")]


def _list_rule(forms: Forms) -> Rule:
    def rule(node: "Node", source: bytes) -> Found | None:
        parts = _elements(node)
        if not parts or parts[0].type != "symbol":
            return None
        head = text_of(parts[0], source)
        if head in forms.groups:
            return Found(GROUP, "", (node,))
        if head in forms.imports or head in forms.leading:
            return Found(IMPORTS if head in forms.imports else LEADING)
        second = parts[1] if len(parts) > 1 else None
        if head in forms.modules:
            name = text_of(second, source) if second is not None else ""
            # (library (rnrs files (6)) ...)
            return Found("module", ".".join(name.lstrip("(").partition(" (")[0].strip("()").split()), (node,))
        kind = kind_of_head(head, forms)
        if second is not None and second.type == "keyword" and len(parts) > 2 and parts[2].type == "symbol":  # noqa: PLR2004
            # (define-literal-syntax-class #:for-label Values)
            second = parts[2]
        name = _named(second, source) if kind else ""
        if kind == "definition" and name:
            return _defined(name, second, parts[2] if len(parts) > 2 else None, source)  # noqa: PLR2004 - a value
        return Found(kind, name) if name else None

    return rule


def _defined(name: str, second: "Node | None", value: "Node | None", source: bytes) -> Found:
    """Classify "(define name value)" and "(define (name ...) ...)" of Scheme and Racket."""
    if second is not None and second.type == "list":
        return Found("function", name)
    inner = value.named_children if value is not None and value.type == "list" else []
    head = text_of(inner[0], source) if inner else ""
    if head in ("class", "class*", "mixin", "interface", "unit"):
        return Found("interface" if head == "interface" else "class", name, (value,) if value else ())
    is_function = head in ("lambda", "case-lambda", "λ", "named-lambda", "opt-lambda", "lambda*")
    return Found("function" if is_function else "variable", name)


def _slots(symbol: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the declarations of a structure or class: fields, and functions to make, test and read it."""
    parts = _elements(symbol)
    head = text_of(parts[0], source) if parts else ""
    if head in ("struct", "define-struct", "define-struct/contract", "struct/contract"):
        fields = next((it for it in parts[2:] if it.type == "list"), None)
        yield from _each_slot(_elements(fields) if fields else [], source)
    elif head in ("define-record-type", "define-record-type*"):
        yield from _record(parts[2:], source)
    elif head in ("defclass", "define-condition"):
        for slots in parts[_SLOTS:][:1]:
            yield from _each_slot(_elements(slots), source)
    elif head in ("defstruct", "cl-defstruct"):
        yield from _each_slot(parts[2:], source)
    elif head in ("define-values", "define-values/invoke-unit") and len(parts) > 1:
        names = [it for it in _elements(parts[1])[1:] if it.type == "symbol"]
        yield from (Part("", text_of(name, source), name, name, is_beside=True) for name in names)


_SLOTS = 3


def _record(parts: "list[Node]", source: bytes) -> "Iterator[Part]":
    # (define-record-type order (make-order id) order? (id order-id set-order-id!))
    for part in parts:
        names = _elements(part)[:1] if part.type == "list" and part == parts[0] else [part]
        if part.type == "list" and part != parts[0]:
            names = _elements(part)[1:]
        for name in names:
            if name.type == "symbol" and not text_of(name, source).startswith("#"):
                yield Part("function", text_of(name, source), part, name, is_beside=True)


def _each_slot(slots: "list[Node]", source: bytes) -> "Iterator[Part]":
    for slot in slots:
        words = _elements(slot) if slot.type == "list" else [slot]
        for at, word in enumerate(words):
            if at == 0 and word.type == "symbol":
                yield Part("property", text_of(word, source), slot, word)
            elif text_of(words[at - 1], source) in (":reader", ":accessor", ":writer") and word.type == "symbol":
                yield Part("function", text_of(word, source), slot, word, is_beside=True)


def _rules(forms: Forms) -> "dict[str, Rule]":
    return {
        "list": _list_rule(forms),
        **role(COMMENT, "comment", "block_comment", "sexp_comment"),
        **role(IMPORTS, "extension"),
        **groups("ERROR"),
    }


_SCHEME = {
    "define": "definition",
    **dict.fromkeys(("define*", "define-public", "define/public", "define/private", "define/override"), "definition"),
    **dict.fromkeys(("define/contract", "define-integrable", "define/pubment", "define/augment"), "definition"),
    **dict.fromkeys(("define/match", "define/augride", "define/overment", "define-inline"), "definition"),
    "define-values": "variable",
    **dict.fromkeys(("struct", "define-struct", "struct/contract", "define-struct/contract"), "struct"),
    **dict.fromkeys(("define-record-type", "define-record-type*"), "struct"),
    **dict.fromkeys(("define-signature", "define-generics", "define-interface"), "interface"),
    **dict.fromkeys(("define-type", "define-syntax-class"), "type"),
    **dict.fromkeys(("test-case", "test-suite", "test-group"), "test"),
    **dict.fromkeys(("define-simple-macro", "define-macro", "define-alias"), "macro"),
    "define-library": "",
}

_LOCAL = (rb"\(define\*?[ \t]+\(", rb"\(define/\w+[ \t]+\(")

_GUILE = re.compile(rb"#\{[^}\n]*\}#|(?<=[\w*!?+<>=/-])'+(?=[\s()\[\]])")
_SCHEME_TOKEN = re.compile(
    rb";[^\n]*|#\|.*?\|#|\"(?:[^\"\\]|\\.)*+\"|#\\(?:[A-Za-z][\w-]*|.)|\|[^|\n]*\||(?P<name>" + _GUILE.pattern + rb")",
    re.DOTALL,
)


def _scheme(source: bytes) -> bytes:
    """Rewrite names unreadable to the grammar: `exp'` and `#{,}#`."""
    if not _GUILE.search(source):
        return source
    return _SCHEME_TOKEN.sub(lambda it: b"_" * len(it[0]) if it["name"] else it[0], source)


SCHEME = Language(
    name="scheme",
    grammar=(BUNDLE, "scheme"),
    removed=(_scheme,),
    names_from_text=True,
    unsafe=nests_expressions,
    suffixes=(".scm", ".ss", ".sld", ".sps", ".sch"),
    rules=_rules(
        Forms(
            kinds=_SCHEME,
            imports=frozenset({"import", "export", "use-modules", "require-extension", "declare", "include", "use"}),
            groups=frozenset({"begin", "cond-expand", "else", "let", "let*", "letrec", "when", "unless"}),
            modules=frozenset({"define-library", "library", "define-module", "module"}),
        )
    ),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}, local=_LOCAL),
    usage=USAGE,
)

RACKET = Language(
    name="racket",
    grammar=(BUNDLE, "racket"),
    unsafe=nests_expressions,
    suffixes=(".rkt", ".rktl", ".rktd"),
    rules=_rules(
        Forms(
            kinds=_SCHEME,
            imports=frozenset({"require", "provide", "all-defined-out", "reprovide", "lazy-require"}),
            leading=frozenset({":"}),
            groups=frozenset({"begin", "begin-for-syntax", "let", "let*", "let-values", "when", "unless", "local"}),
            modules=frozenset({"module", "module+", "module*"}),
        )
    ),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}, local=_LOCAL),
    usage=USAGE,
    unread=Unread(RACKET_SIGNS, mends=False, masks=(without_at_forms,)),
)

_LISP = {
    **dict.fromkeys(("defun", "defgeneric", "defsubst", "define-compiler-macro", "defsetf"), "function"),
    **dict.fromkeys(("cl-defun", "cl-defgeneric", "defalias", "cl-defsubst", "defadvice"), "function"),
    **dict.fromkeys(("define-minor-mode", "define-derived-mode", "define-globalized-minor-mode"), "function"),
    **dict.fromkeys(("defmethod", "cl-defmethod"), "method"),
    **dict.fromkeys(("defmacro", "cl-defmacro", "define-modify-macro", "define-symbol-macro"), "macro"),
    **dict.fromkeys(("defstruct", "cl-defstruct"), "struct"),
    **dict.fromkeys(("defvar", "defparameter", "defvar-local", "defcustom", "defface", "defgroup"), "variable"),
    "defconstant": "constant",
    "defconst": "constant",
    "defpackage": "module",
    "define-condition": "exception",
    "deftheme": "variable",
    "default": "",
}
_LISP_FORMS = Forms(
    kinds=_LISP,
    imports=frozenset({"in-package", "require", "provide", "use-package", "import", "export", "autoload"}),
    leading=frozenset({"declaim", "declare-function"}),
    groups=frozenset({"progn", "eval-when", "eval-when-compile", "eval-and-compile", "when", "unless", "let"})
    | {"let*", "flet", "locally"},
)

# Comments and strings; characters, such as ?( and #\\(; conditions of the reader, such as #+sbcl; names in bars.
_TOKENS = (
    rb";[^\n]*|#\|.*?\|#|\"(?:[^\"\\]|\\.)*+\"|#\\(?:[A-Za-z][\w-]*|.)|#[+\-.](?=[\w(:])|##(?=[\w(])"
    rb"|#[pP](?=\")|\|[^|\n]*\|"
)
_LISP_TOKEN = re.compile(_TOKENS, re.DOTALL)
_ELISP_TOKEN = re.compile(_TOKENS + rb"|(?<![\w?\-*+!/<>=&:.])\?(?:\\(?:[CMSAHs]-)*\^?.|[^\\\s])", re.DOTALL)
_ESCAPE = re.compile(rb"\\[^\n]?")


def _readable(token: re.Match[bytes]) -> bytes:
    """Return a token as Scheme would have it, as long as it was."""
    text = token[0]
    if text[:1] == b'"':
        return _ESCAPE.sub(lambda found: b" " * len(found[0]), text)
    if text[:1] == b"?" or text[:2] == b"#\\":
        return re.sub(rb"[^\n]", b"x", text)
    if text[:1] == b"|":
        return re.sub(rb"[^\w-]", b"_", text)
    return text if text[:1] == b";" or text[:2] == b"#|" else b" " * len(text)


def _common_lisp(source: bytes) -> bytes:
    return _LISP_TOKEN.sub(_readable, source)


def _emacs_lisp(source: bytes) -> bytes:
    return _ELISP_TOKEN.sub(_readable, source)


COMMON_LISP = Language(
    name="commonlisp",
    grammar=(BUNDLE, "scheme"),
    unsafe=nests_expressions,
    suffixes=(".lisp", ".lsp", ".cl", ".asd", ".ros"),
    removed=(_common_lisp,),
    rules=_rules(_LISP_FORMS),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}),
    usage=USAGE,
)

EMACS_LISP = Language(
    name="emacslisp",
    grammar=(BUNDLE, "scheme"),
    unsafe=nests_expressions,
    suffixes=(".el",),
    filenames=(".emacs",),
    removed=(_emacs_lisp,),
    rules=_rules(_LISP_FORMS),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}),
    usage=USAGE,
)

ROWS = (COMMON_LISP, EMACS_LISP, SCHEME, RACKET)

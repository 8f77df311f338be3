"""Define the rows of Clojure, Common Lisp, Emacs Lisp, Scheme and Racket."""

import re
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.grammars import BUNDLE
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
    child_of_type,
    groups,
    role,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

_QUOTING = "'`,#:\""
_MAX_HEAD = 8


class _Forms(NamedTuple):
    """Heads of lists with a meaning.

    Attributes:
        kinds: of a definition, by its head; further heads which begin with "def" are told by their words.
        imports, leading: heads.
        groups: heads of lists whose elements count as elements of the list around them.
        modules: heads of lists with a name and members.
    """

    kinds: "Mapping[str, str]"
    imports: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()


_DEFINES = re.compile(
    r"(?:[\w.+*-]+[/:])*(?:cl-|ert-|pcase-|transient-)?(?:def|define)(?![a-z]*ault)[\w*/-]*[!+]?", re.ASCII
)
_WORDS = (
    ("macro", "macro"),
    ("syntax", "macro"),
    ("test", "test"),
    ("class", "class"),
    ("struct", "struct"),
    ("record", "struct"),
    ("type", "type"),
    ("condition", "exception"),
    ("method", "method"),
    ("const", "constant"),
    ("var", "variable"),
    ("param", "variable"),
    ("custom", "variable"),
    ("once", "variable"),
    ("group", "variable"),
    ("face", "variable"),
    ("package", "module"),
)


def _kind(head: str, forms: _Forms) -> str:
    known = forms.kinds.get(head)
    if known is not None:
        return known
    if not _DEFINES.fullmatch(head):
        return ""
    short = re.split("[/:]", head)[-1] if not head.startswith(("define/", "define-")) else head
    known = forms.kinds.get(short)
    return known or next((kind for word, kind in _WORDS if word in head), "function")


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
        return text_of(node, source).strip(_QUOTING) if node.type in _NAMES else ""
    return ""


_NAMES = frozenset({"symbol", "keyword", "string"})


def _elements(node: "Node") -> "list[Node]":
    return [it for it in node.named_children if it.type not in ("comment", "block_comment", "sexp_comment")]


def _list_rule(forms: _Forms) -> Rule:
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
            return Found("module", " ".join(name.strip("()").split()).replace(" ", "."), (node,))
        kind = _kind(head, forms)
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
    """Yield the declarations of a structure or class: fields, and functions that make, test and read it."""
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


def _rules(forms: _Forms) -> "dict[str, Rule]":
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

SCHEME = Language(
    name="scheme",
    grammar=(BUNDLE, "scheme"),
    unsafe=nests_expressions,
    suffixes=(".scm", ".ss", ".sld", ".sps", ".sch"),
    rules=_rules(
        _Forms(
            kinds=_SCHEME,
            imports=frozenset({"import", "export", "use-modules", "require-extension", "declare", "include", "use"}),
            groups=frozenset({"begin", "cond-expand", "else", "let", "let*", "letrec", "when", "unless"}),
            modules=frozenset({"define-library", "library", "define-module", "module"}),
        )
    ),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}),
)

RACKET = Language(
    name="racket",
    grammar=(BUNDLE, "racket"),
    unsafe=nests_expressions,
    suffixes=(".rkt", ".rktl", ".rktd", ".scrbl"),
    rules=_rules(
        _Forms(
            kinds=_SCHEME,
            imports=frozenset({"require", "provide", "all-defined-out", "reprovide", "lazy-require"}),
            leading=frozenset({":"}),
            groups=frozenset({"begin", "begin-for-syntax", "let", "let*", "let-values", "when", "unless", "local"}),
            modules=frozenset({"module", "module+", "module*"}),
        )
    ),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}),
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
_LISP_FORMS = _Forms(
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
    suffixes=(".lisp", ".lsp", ".cl", ".asd"),
    removed=(_common_lisp,),
    rules=_rules(_LISP_FORMS),
    line_comment=";",
    nodes=NodeTypes(parts={"list": _slots}),
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
)


_CLOJURE_TYPES = {
    "defprotocol": "interface",
    "definterface": "interface",
    "defrecord": "struct",
    "deftype": "class",
    "extend-type": "extension",
    "extend-protocol": "extension",
    "extend": "",
}
_CLOJURE_KINDS = {
    **dict.fromkeys(("def", "defonce", "defstate", "declare"), "variable"),
    **dict.fromkeys(("defn", "defn-", "defmulti", "fdef"), "function"),
    **dict.fromkeys(("defmethod",), "method"),
    **dict.fromkeys(("deftest", "defspec", "deftest-"), "test"),
    "ns": "module",
    "declare": "",
    "fdef": "",
    "default": "",
}
_CLOJURE_FORMS = _Forms(kinds=_CLOJURE_KINDS)
_CLOJURE_GROUPS = frozenset({"do", "let", "when", "when-not", "if", "binding", "letfn"})


def _clojure_list(node: "Node", source: bytes) -> Found | None:
    parts = node.children_by_field_name("value")
    if not parts or parts[0].type != "sym_lit":
        return None
    head = _clojure_word(parts[0], source)
    if head in _CLOJURE_GROUPS:
        return Found(GROUP, "", (node,))
    second = parts[1] if len(parts) > 1 else None
    name = _clojure_word(second, source) if second is not None else ""
    if head in ("require", "import", "use", "in-ns", "refer"):
        return Found(IMPORTS)
    kind = _CLOJURE_TYPES.get(head) or _kind(head, _CLOJURE_FORMS)
    if kind == "variable" and parts[-1].type == "anon_fn_lit":
        kind = "function"
    is_type = head in _CLOJURE_TYPES
    return Found(kind, name, (node,) if is_type else (), within=_CLOJURE_METHODS) if kind and name else None


def _clojure_method(node: "Node", source: bytes) -> Found | None:
    parts = node.children_by_field_name("value")
    return Found("method", _clojure_word(parts[0], source)) if parts and parts[0].type == "sym_lit" else None


_CLOJURE_METHODS = {"list_lit": _clojure_method}


def _clojure_word(node: "Node", source: bytes) -> str:
    """Return a symbol without its metadata; a keyword as it is."""
    if node.type == "kwd_lit":
        return text_of(node, source)
    name = child_of_type(node, "sym_name")
    return text_of(name, source).rpartition("/")[2] or text_of(name, source) if node.type == "sym_lit" else ""


def _clojure_fields(symbol: "Node", source: bytes) -> "Iterator[Part]":
    parts = symbol.children_by_field_name("value")
    if len(parts) > 2 and _clojure_word(parts[0], source) in ("defrecord", "deftype"):  # noqa: PLR2004 - its fields
        for field in parts[2].children_by_field_name("value") if parts[2].type == "vec_lit" else ():
            if name := _clojure_word(field, source):
                yield Part("property", name, field, field)


CLOJURE = Language(
    name="clojure",
    grammar=(BUNDLE, "clojure"),
    unsafe=nests_expressions,
    suffixes=(".clj", ".cljs", ".cljc", ".edn", ".bb", ".cljd"),
    rules={
        "list_lit": _clojure_list,
        **role(COMMENT, "comment", "dis_expr"),
        **groups("read_cond_lit", "splicing_read_cond_lit", "ERROR"),
    },
    line_comment=";",
    nodes=NodeTypes(parts={"list_lit": _clojure_fields}),
)

ROWS = (CLOJURE, COMMON_LISP, EMACS_LISP, SCHEME, RACKET)

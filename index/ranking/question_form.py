"""The form of a question: a sentence about code, or the name of a topic.

"returns the number of bytes read" asks for a function; its words decide. "connection pooling" and "how routing works"
ask for a file; its name and path decide. The form alone tells them apart, by degrees.
"""

import re
from collections.abc import Sequence
from math import exp, log1p

from cqm.index.ranking.weights import PHRASING

_WORD = re.compile(r"[\w']+")
_LITTLE = frozenset({
    "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "is", "are", "was", "be",
    "it", "its", "this", "that", "these", "if", "when", "not", "no", "as", "into", "will", "should", "must", "can",
    "has", "have", "so", "then", "than", "there", "we", "you",
})  # fmt: skip
_ARTICLES = frozenset({"a", "an", "the"})
_ASKING = frozenset({"how", "where", "what", "which", "why"})
_PLACING = frozenset({"where", "what", "which", "who", "why", "when"})
_LEAST_PLACING = 5
"""Words: "where clause builder" is a topic."""
_TELLING = frozenset({"if", "when", "whether", "is", "are", "be", "this", "it", "will", "should"})
_VERB = re.compile(r"\w*[^\Ws]s")
_VERBS = frozenset({
    "accept", "access", "acquire", "add", "adjust", "advance", "allocate", "allow", "append", "apply", "assemble",
    "assert", "assign", "attach", "avoid", "begin", "bind", "build", "calculate", "call", "cancel", "cast", "change",
    "check", "choose", "clean", "clear", "clone", "close", "collapse", "collect", "combine", "compare", "compile",
    "complete", "compose", "compress", "compute", "configure", "connect", "construct", "consume", "convert", "copy",
    "create", "decode", "decompress", "decrement", "decrypt", "define", "delete", "describe", "deserialize", "destroy",
    "detach", "detect", "determine", "disable", "discard", "dispatch", "display", "divide", "do", "drop", "emit",
    "enable", "encode", "encrypt", "enforce", "ensure", "enter", "enumerate", "escape", "evaluate", "execute", "expand",
    "expect", "export", "expose", "extend", "extract", "fetch", "fill", "find", "finish", "flatten", "flush", "follow",
    "force", "forward", "free", "generate", "get", "give", "go", "grab", "handle", "have", "hide", "ignore",
    "implement", "import", "include", "increment", "indicate", "initialise", "initialize", "insert", "inspect",
    "install", "invoke", "iterate", "join", "keep", "launch", "leave", "let", "load", "locate", "look", "make", "mark",
    "match", "merge", "modify", "move", "multiply", "normalize", "notify", "obtain", "omit", "open", "override",
    "parse", "pass", "perform", "persist", "populate", "prepare", "prepend", "prevent", "print", "proceed", "process",
    "produce", "provide", "push", "put", "raise", "read", "receive", "record", "reduce", "register", "reject",
    "release", "reload", "remove", "rename", "render", "repeat", "replace", "report", "represent", "resolve", "restore",
    "retrieve", "return", "revert", "rewrite", "rotate", "run", "save", "scan", "search", "select", "send", "separate",
    "serialize", "set", "shift", "show", "skip", "sort", "split", "start", "stop", "store", "strip", "submit",
    "subscribe", "subtract", "swap", "switch", "take", "tell", "terminate", "throw", "toggle", "transform", "translate",
    "traverse", "trigger", "trim", "try", "turn", "unregister", "unset", "unwrap", "update", "use", "validate",
    "verify", "visit", "wait", "walk", "warn", "wrap", "write",
})  # fmt: skip
"""Imperatives: "return the size" is as much a sentence as "returns the size"."""
_GERUND = re.compile(r"\w*ing")
_PAUSE = re.compile(r"[,;:]")
_CODE = re.compile(r"[a-z][A-Z]|_|\(\)|::|\w\.\w")


def form(text: str) -> tuple[float, ...]:
    """Describe the form of a question by numbers, in the order of `weights.PHRASING`.

    A constant, the logarithm of its length in words, the share of little words. Then, each 1 or 0: has an article, asks
    ("how"), begins with a verb ("returns", "return"), has a pause, names a condition or state, contains code, begins
    with a gerund ("parsing").
    """
    words = [word.lower() for word in _WORD.findall(text)]
    first = words[:1]
    flags = (
        not _ARTICLES.isdisjoint(words),
        not _ASKING.isdisjoint(first),
        not _VERBS.isdisjoint(first) or any(map(_VERB.fullmatch, first)),
        _PAUSE.search(text) is not None,
        not _TELLING.isdisjoint(words),
        _CODE.search(text) is not None,
        any(map(_GERUND.fullmatch, first)),
    )
    little = sum(word in _LITTLE for word in words) / max(1, len(words))
    return (1.0, log1p(len(words)), little, *map(float, flags))


def sentence_likeness(text: str, weights: Sequence[float] = PHRASING) -> float:
    """Tell topics (0) from sentences (1) by logistic regression; a question for a place is half a sentence at least.

    Few of the learned questions begin with "where" or "which": they asked "how". With the roles of package folders, 76
    instead of 69 of 134 such questions about 12 applications have the right lines first.
    """
    total = sum(weight * number for weight, number in zip(weights, form(text), strict=True))
    words = _WORD.findall(text)
    is_placing = len(words) >= _LEAST_PLACING and not _PLACING.isdisjoint(word.lower() for word in words[:2])
    return max(0.5 if is_placing else 0.0, 1 / (1 + exp(-total)))

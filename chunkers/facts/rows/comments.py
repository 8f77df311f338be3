"""Turn comments into text without their signs, by the rules of each language's documentation tool."""

import re
from collections.abc import Callable, Sequence
from textwrap import dedent

Comments = Callable[[Sequence[str]], str]
"""Extracts the documentation from the comments above a symbol."""

_MARKED = re.compile(r"/\*[*!](?!/)|//[/!](?!/)|\{- ?\||-- ?\||---(?!-)|#:|<#")
_BLOCK = re.compile(r"(?:/\*+(?!/)!?<?|\{-+ ?\|?|<#|=begin\b)(.*?)(?:\**\*/|-+\}|#>|=end\b)?\Z", re.DOTALL)
_LINE = re.compile(r"[ \t]*(?://[/!]+<?|//|--+ ?\|?|#+:?|;+)", re.ASCII)
_STAR = re.compile(r"^[ \t]*\*(?=\s|$|\w|[@<{\[`(])[ \t]?", re.MULTILINE)

# "//go:build", "//nolint:all", "//line": comments ignored by godoc.
_DIRECTIVE = re.compile(r"//(?:[a-z0-9]+:[a-z0-9]|nolint\b|export |line )")

_REFERENCE = re.compile(r'<(?:see|seealso|paramref|typeparamref)\s[^<>"]*"(?:[A-Z]:)?([^"]*)"\s*/>')
_PARAMETER = re.compile(r'<(?:param|typeparam|exception)\s[^<>"]*"(?:[A-Z]:)?([^"]*)"\s*>')
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def marked(comments: Sequence[str]) -> str:
    """Return only comments with a documentation sign: Javadoc, JSDoc, KDoc, PHPDoc, rustdoc, Haddock ..."""
    return written([comment for comment in comments if _MARKED.match(comment)])


def written(comments: Sequence[str]) -> str:
    """Return all comments, for languages without a documentation sign or with an often omitted one."""
    texts = (_plain(comment) for comment in comments if not _DIRECTIVE.match(comment))
    return "\n".join(text for text in texts if text.strip() or len(comments) > 1).strip()


def xml(comments: Sequence[str]) -> str:
    """Return the words of XML documentation: parameters and exceptions as "name: text", references as their targets."""
    text = _PARAMETER.sub(r"\1: ", _REFERENCE.sub(r"\1", marked(comments)))
    lines = (line.strip() for line in _TAG.sub("", text).split("\n"))
    return "\n".join(line for line in lines if line)


def _plain(comment: str) -> str:
    if comment.startswith(("/*", "{-", "<#", "=begin")):
        found = _BLOCK.match(comment)
        return _dedented(_STAR.sub("", found[1])) if found else comment
    lines = [_LINE.sub("", line, count=1) for line in comment.rstrip().split("\n")]
    return "\n".join(line.removeprefix(" ").rstrip() for line in lines)


def _dedented(text: str) -> str:
    # The first line begins after the sign, at any column.
    first, newline, rest = text.partition("\n")
    return (first.strip() + newline + dedent(rest)).strip()

"""Read the commit that a text names alone, or that `git log` and `git show` print before what they tell of it."""

import re

_LONGEST = 20_000
_ID = r"(?P<id>[0-9a-f]{7,64})(?![\w.-])"
_WORDED = re.compile(rf"(?P<before>(?:[A-Za-z]{{2,12}} ){{0,6}}){_ID}(?P<after>(?: [A-Za-z]{{2,12}}){{0,4}}) ?[?.]?")
_LISTED = re.compile(rf"[*|\\/ ]{{0,12}}{_ID} (?:\([^()\n]{{1,200}}\) )?(?=\S)")
_LOGGED = re.compile(rf"[*|\\/ ]{{0,12}}commit {_ID}(?: \([^()\n]{{1,200}}\))?[ \t]*(?:\n|$)")
_ABOUT = frozenset({
    *("what", "which", "where", "why", "how", "did", "does", "do", "is", "was", "are", "the", "in", "of", "by", "for"),
    *("this", "line", "lines", "file", "files", "made", "make", "fix", "fixed", "git", "log", "diff", "change", "code"),
    *("changed", "changes", "added", "add", "introduced", "find", "from", "explain"),
    *("commit", "revision", "rev", "sha", "hash", "show"),
})  # fmt: skip
_TOLD = re.compile(r"\b(?:commit|revision|rev|sha|hash|show)\b", re.IGNORECASE)
_WHOLE = 40
"""Digits of a whole id; fewer of one kind may be a number or a word."""


def commit_in(text: str) -> str:
    r"""Return the id, or the beginning of it, of the commit that a text is about; empty for other texts.

    "3f2a1bc", "what did commit 3f2a1bc change", "3f2a1bc (HEAD -> main) Fix the retry", "commit 3f2a1bc…\nAuthor: …"
    """
    text = text.strip().strip("`'\"")
    if len(text) > _LONGEST:
        return ""
    if logged := _LOGGED.match(text):
        return logged["id"]
    if worded := _WORDED.fullmatch(text):
        words = [*worded["before"].split(), *worded["after"].split()]
        if all(it.lower() in _ABOUT for it in words):
            return worded["id"] if is_told(text) or _is_mixed(worded["id"]) else ""
    lines = [_LISTED.match(it) for it in text.split("\n") if it.strip()]
    # All of a list of commits are; the first is the newest.
    is_list = lines and lines[0] is not None and all(it and _is_mixed(it["id"]) for it in lines)
    return lines[0]["id"] if is_list and lines[0] else ""


def is_told(text: str) -> bool:
    """Whether a text says that it is about a commit."""
    return _TOLD.search(text) is not None


def _is_mixed(written: str) -> bool:
    return len(written) >= _WHOLE or not (written.isdecimal() or written.isalpha())

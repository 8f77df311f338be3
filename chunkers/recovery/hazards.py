"""Blank the parts of a program its parser may crash on."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import blank, signs_of
from cqm.chunkers.recovery.branches import without
from cqm.chunkers.recovery.segments import segments_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cqm.chunkers.languages.model import Language, Unread


def without_hazards(
    source: bytes, language: "Language", is_unsafe: "Callable[[bytes], bool]"
) -> tuple[bytes, list[tuple[int, int]]] | None:
    """Blank the parts of a program that may crash its parser; None if nothing else would be left.

    Brackets in comments and strings count for nothing, unless strings hold expressions.

    Parameters:
        source: the program, unsafe as a whole.
        is_unsafe: judges a text without comments and strings.

    Returns:
        The program, and the bytes of its blanks.
    """
    unread = language.unread
    if unread is None:
        return None
    bare = _bare(source, unread)
    if not is_unsafe(bare):
        return source, []
    segments = segments_of(source, unread)
    lost = [(it.start, it.end) for it in segments if is_unsafe(bare[it.start : it.end])]
    rest = without(bare, lost)
    if len(lost) == len(segments) or is_unsafe(rest):
        return None
    return without(source, lost), lost


def _bare(source: bytes, unread: "Unread") -> bytes:
    """Blank comments and strings."""
    bare = bytearray(source)
    for found in signs_of(unread.signs).finditer(source):
        is_text = found.lastgroup in ("text", "raw") and not (unread.interpolates and b"{" in found[0])
        if found.lastgroup == "note" or (is_text and not (unread.interpolates and b"\\(" in found[0])):
            bare[found.start() : found.end()] = blank(found[0])
    return bytes(bare)

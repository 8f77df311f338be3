"""Decode a file's bytes by a declared policy.

    1. A byte order mark decides: UTF-8, UTF-16 or UTF-32. The mark itself is not part of the text. Without a mark, text
       with a NUL at nearly every other byte is UTF-16.
    2. Otherwise valid UTF-8 is UTF-8. A NUL is a character like any other here.
    3. Otherwise, if only a few bytes beside other characters are not UTF-8, each of them is read as cp1252: a name in a
       list of authors, a line pasted from elsewhere.
    4. Otherwise, if the bytes have a line end, charset-normalizer tries the legacy encodings of `_LEGACY`. The cleanest
       reading wins if less than `_MOST_MESS` of it looks wrong; between equally clean readings the one with more
       resemblance to a language wins, then the earlier one in the table.
    5. Otherwise the bytes are not text: `UndecodableError`. No byte is ever replaced or dropped.

UTF-32 without a mark, and UTF-16 of other than Western text, are not detected: their NUL bytes make them binary, as in
git.
"""

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cqm.chunkers.errors import UndecodableError

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

HEAD_BYTES = 8192
"""Bytes from a file's beginning for `is_binary`."""

# The mark of UTF-32 begins with the mark of UTF-16, so longer marks come first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

MIXED = "utf-8+cp1252"
"""Name of the encoding of UTF-8 with a few bytes of cp1252."""
# Among 18,000 random texts of ten letters in nine other encodings, six had three letters in UTF-8 by chance for each
# one not; among 1,800 texts of fifty letters none had one for two.
_LEAST_VALID = 3
_NO_UTF8 = re.compile("[\udc80-\udcff]")
"""Matches the result of `surrogateescape` for a byte."""

# In order of preference between equally clean readings. cp932 and cp949 contain shift_jis and euc-kr, cp1252 contains
# the printable part of latin-1, gb18030 contains gbk and gb2312.
_MULTI_BYTE = ("cp932", "euc_jp", "gb18030", "big5", "cp949")
_SINGLE_BYTE = ("cp1252", "cp1251", "koi8_r", "cp1250")
_LEGACY = _MULTI_BYTE + _SINGLE_BYTE

# charset-normalizer's own limit is 0.2; real texts in the right encoding measured at most 0.13.
_MOST_MESS = 0.15

# Bytes, and the share of NUL bytes on one side: comments may be in another script.
_LEAST_UTF16 = 16
_LEAST_NULS = 0.7

# Smaller differences are noise from a short comment in a long file.
_SAME_MESS = 0.01

# Enough to tell encodings apart; limits the library's time to about 5 ms.
_SAMPLE_BYTES = 1 << 16

_SIGNATURES = (b"%PDF-", b"\x1f\x8b", b"!<arch>\n", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")
_CONTROL_BYTES = bytes(range(0x07)) + bytes(range(0x0E, 0x1B)) + bytes(range(0x1C, 0x20)) + b"\x7f"
_MOST_CONTROL = 0.1


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and its encoding's name as Python's codecs spell it; "pdf" for a PDF.

    Warnings name the parts of the file missing from the text.
    """

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def is_binary(head: bytes) -> bool:
    """Tell by a file's beginning if it is not text.

    A binary file has the signature of a binary format, a NUL byte (git's rule) or more than a tenth of control
    characters. A byte order mark makes it text.

    Parameters:
        head: the first `HEAD_BYTES` of a file, or all of it.
    """
    if head.startswith(tuple(mark for mark, _ in _MARKS)):
        return False
    if head.startswith(_SIGNATURES) or (b"\x00" in head and not _unmarked_utf16(head)):
        return True
    if b"\x00" in head:
        return False
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return controls > len(head) * _MOST_CONTROL


def decode(data: bytes) -> Decoded:
    """Decode all of a file by the policy of this module.

    Parameters:
        data: the complete file; a text cut inside a character cannot be decoded.

    Raises:
        UndecodableError: the policy allows no encoding for these bytes.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_marked(data[len(mark) :], encoding)
    if encoding := _unmarked_utf16(data[:HEAD_BYTES]):
        return _decode_marked(data, encoding)
    try:
        return Decoded(data.decode(), "utf-8")
    except UnicodeDecodeError:
        return _decode_mixed(data) or _decode_legacy(data)


def _unmarked_utf16(head: bytes) -> str:
    """Return the encoding of a text in UTF-16 without a mark; empty for anything else.

    Nearly all of the bytes on one side are NUL, none on the other, and the text has lines and no control characters.
    """
    head = head[: len(head) // 2 * 2]
    if b"\x00" not in head or len(head) < _LEAST_UTF16:
        return ""
    for encoding, high, low in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if high.count(0) < _LEAST_NULS * len(high) or 0 in low:
            continue
        text = head.decode(encoding, "ignore")
        is_clean = not any(character < " " and character not in "\t\n\r\f" for character in text)
        return encoding if is_clean and "\n" in text else ""
    return ""


def _decode_mixed(data: bytes) -> Decoded | None:
    """Decode UTF-8 with a few bytes of cp1252; None for anything else."""
    text = data.decode("utf-8", "surrogateescape")
    odd = len(_NO_UTF8.findall(text))
    valid = len(text) - len(text.encode("ascii", "ignore")) - odd
    if valid < _LEAST_VALID * odd:
        return None
    return Decoded(_NO_UTF8.sub(lambda found: _of_cp1252(ord(found[0]) & 0xFF), text), MIXED)


def _of_cp1252(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        # Five bytes have no character in it.
        return chr(byte)


def _decode_marked(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and (mixed := _decode_mixed(data)):
            return mixed
        message = f"The beginning says {encoding}, but byte {error.start} is not valid in it."
        raise UndecodableError(message, remedy="Save the file as UTF-8.") from error


def _decode_legacy(data: bytes) -> Decoded:
    # A few bytes without a line end are data, even if valid in some encoding.
    has_lines = b"\n" in data or b"\r" in data
    for encoding in _legacy_encodings(data) if has_lines else ():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            # The library has not seen all lines.
            continue
        # Without a single two-byte character it is a single-byte text read as half-width katakana.
        if encoding not in _MULTI_BYTE or len(text) < len(data):
            return Decoded(text, encoding)
    message = "The bytes are neither UTF-8 nor clearly a text in another encoding."
    raise UndecodableError(message, remedy="Save the file as UTF-8, or exclude it in .cqmignore.")


def _legacy_encodings(data: bytes) -> list[str]:
    """List the encodings that read the bytes as clean text, the likeliest first."""
    from charset_normalizer import from_bytes  # 30 ms, never paid by UTF-8 trees

    matches = from_bytes(_telling_lines(data), cp_isolation=list(_LEGACY), enable_fallback=False)
    readings = [match for match in matches if match.chaos <= _MOST_MESS]
    cleanest = min((match.chaos for match in readings), default=0.0)
    readings = [match for match in readings if match.chaos <= cleanest + _SAME_MESS]
    return sorted(_names(readings), key=lambda name: _preference(name, readings))


def _telling_lines(data: bytes) -> bytes:
    # ASCII lines say nothing about the encoding. The library only samples, so they would hide the other lines. In these
    # encodings a line feed is never part of another character.
    telling: list[bytes] = []
    size = 0
    for line in data.split(b"\n"):
        if size > _SAMPLE_BYTES:
            break
        if not line.isascii():
            telling.append(line)
            size += len(line)
    return b"\n".join(telling)


def _names(readings: "list[CharsetMatch]") -> set[str]:
    # Encodings with the same reading form one match, under one of their names.
    return {name for match in readings for name in match.could_be_from_charset if name in _LEGACY}


def _preference(name: str, readings: "list[CharsetMatch]") -> tuple[float, int]:
    coherence = max(match.coherence for match in readings if name in match.could_be_from_charset)
    return -coherence, _LEGACY.index(name)

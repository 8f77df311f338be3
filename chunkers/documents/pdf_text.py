"""Extract the text of PDF files with PDFium, Chrome's library: six to eleven times as fast as pypdf on three files.

PDFium is fuzzed well but written in C++: a deadline cannot stop it inside a page, only before the next one.
"""

import functools
import importlib.util
import threading
from collections.abc import Iterator
from itertools import islice
from time import thread_time
from typing import TYPE_CHECKING

from cqm.chunkers.decode import Decoded
from cqm.chunkers.errors import DamagedError, EncryptedError, MissingPackageError, NoTextError
from cqm.chunkers.extras import how_to_add

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped]

PDF_SIGNATURE = b"%PDF-"
PAGE_BREAK = "\f"
"""Precedes each page."""

_MOST_PAGES = 5_000
_MOST_CHARACTERS = 10_000_000
_MOST_SECONDS = 30.0
"""Limit of this thread's own work; real files took 1 to 5 milliseconds a page."""

# PDFium has no locks of its own.
_lock = threading.Lock()

# PDFium's marks for a hyphen at the end of a line, and characters which look like a page break.
_MARKS = str.maketrans({"\x02": "-", "\ufffe": "-", "\x00": "", PAGE_BREAK: "\n"})


@functools.cache
def can_read_pdf() -> bool:
    """Tell if the extra "pdf" is installed."""
    return importlib.util.find_spec("pypdfium2") is not None


def text_of_pdf(name: str, data: bytes) -> Decoded:
    """Return the text of a PDF: the title in its metadata, on a line of its own, and its pages.

    A form feed precedes each page, so counting those before a character gives its page, from 1. Lines are the page's
    lines and end with a line feed. Offsets and lines of chunks refer to this text.

    Raises:
        MissingPackageError: the extra is not installed.
        EncryptedError: the file needs a password to open.
        DamagedError: PDFium cannot open it.
        NoTextError: its pages are images, or empty.
    """
    if not can_read_pdf():
        raise MissingPackageError(f"{name} is a PDF.", remedy=f"Run `{how_to_add('pdf')}` to read it.")
    with _lock:
        document = _opened(name, data)
        try:
            count = len(document)
            title = " ".join(_clean(document.get_metadata_value("Title")).split())
            pages = list(_pages(document))
        finally:
            document.close()
    if not any(page.strip() for page in pages):
        raise NoTextError(f"{name} has no text on its pages.", remedy="Recognize the text of a scan (OCR) first.")
    text = "".join([f"{title}\n" if title else "", *(f"{PAGE_BREAK}{page}" for page in pages)])
    is_part = len(pages) < count
    return Decoded(text, "pdf", (f"only the first {len(pages)} of {count} pages were read",) if is_part else ())


def _opened(name: str, data: bytes) -> "PdfDocument":
    import pypdfium2  # an extra

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise EncryptedError(f"{name} is encrypted.", remedy="Save it without a password.") from error
        raise DamagedError(f"{name} is no PDF that can be opened: {error}") from error


def _pages(document: "PdfDocument") -> Iterator[str]:
    """Yield the texts of the pages within the limits; nothing for an unreadable one."""
    began, characters = thread_time(), 0
    for number in islice(range(len(document)), _MOST_PAGES):
        if thread_time() - began > _MOST_SECONDS or characters > _MOST_CHARACTERS:
            return
        text = _page(document, number)
        characters += len(text)
        yield text


def _page(document: "PdfDocument", number: int) -> str:
    import pypdfium2  # an extra

    try:
        page = document[number]
        text_page = page.get_textpage()
        text = text_page.get_text_bounded()
        text_page.close()
        page.close()
    except pypdfium2.PdfiumError:
        # One damaged page of many: keep the others, and keep page numbers right.
        return "\n"
    return f"{_clean(text).rstrip()}\n"


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_MARKS)

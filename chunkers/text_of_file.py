"""Read a file's text, whatever its format: the one way in for scans and previews."""

from cqm.chunkers.decode import HEAD_BYTES, Decoded, decode, is_binary
from cqm.chunkers.documents.pdf_text import PDF_SIGNATURE, text_of_pdf
from cqm.chunkers.errors import UndecodableError

PDF_SUFFIX = ".pdf"


def is_readable(name: str, head: bytes) -> bool:
    """Tell by the first `decode.HEAD_BYTES` if a file may have text; `read_text` decides in the end."""
    return _is_pdf(name, head) or not is_binary(head)


def read_text(name: str, data: bytes) -> Decoded:
    """Return a file's text: a PDF by `pdf_text.text_of_pdf`, anything else by the policy of `decode`.

    Raises:
        UndecodableError: the file is binary, in no known encoding, or a PDF without readable text.
    """
    if _is_pdf(name, data):
        return text_of_pdf(name, data)
    if is_binary(data[:HEAD_BYTES]):
        raise UndecodableError(f"{name} is a binary file.", remedy="Only text can be chunked.")
    return decode(data)


def _is_pdf(name: str, head: bytes) -> bool:
    return name.lower().endswith(PDF_SUFFIX) and head.startswith(PDF_SIGNATURE)

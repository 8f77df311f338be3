"""The common schema of what is known of a chunk beside its text and place."""

from cqm.chunkers.model import Document, Metadata, Piece


def metadata_of(document: Document, language: str, piece: Piece) -> Metadata:
    """The metadata of a piece.

    Parameters:
        document: that the piece is of.
        language: of the document.
        piece: what the chunker knows.
    """
    return Metadata(
        source=document.source,
        url=document.url,
        created_at=document.created_at,
        content_type=language,
        headings=piece.headings,
        facts=piece.facts,
    )

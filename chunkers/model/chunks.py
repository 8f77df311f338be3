"""Input and output of chunking: documents, chunks and reports. All offsets are half-open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

from cqm.chunkers.model.options import Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNKER_VERSION = 14
"""Increase with every change in any text's chunks or their ids: an index then chunks its files again."""


LATE = "late"
"""The strategy of pooling vectors after reading the whole document."""


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded text to chunk.

    Attributes:
        path: relative to the indexed root, with "/" between parts; part of every chunk's identity.
        text: decoded, without a byte order mark, with its original line endings.
        language: a name of `languages.LANGUAGES`, "markdown" or "text"; empty to detect it from path and text.
        source: the collection around it, such as a repository's name; empty for none.
        url: its address, if other than the path.
        created_at: time of the last write in ISO 8601; empty if unknown. Chunkers have no clock.
    """

    path: str
    text: str
    language: str = ""
    source: str = ""
    url: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function, as written; type and default may be empty."""

    name: str
    type: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class SymbolFacts:
    """Facts about a symbol, as far as its language's grammar shows them.

    Attributes:
        name: qualified, parts joined by ".".
        kind: as in `Piece.kind`.
        start_line, end_line: 1-based, inclusive, with its comments and attributes.
        signature: its declaration without the body.
        parameters: in order, without the receiver.
        returns: the declared type, empty for none.
        doc: its doc comment or docstring as text, without comment signs.
        visibility: "public", "protected", "private", "internal", "package" ...; the language's default if unwritten.
        exported: whether other modules can name it.
        decorators: decorators, attributes and annotations, as written.
        complexity: cyclomatic, 1 + number of branches (McCabe 1976); 0 without a body.
        calls: names of called functions, as written up to the arguments, in order, each once.
        imports_used: the file's imported names in use here, in order of use.
        fields, methods: names of a type's members.
    """

    name: str
    kind: str
    start_line: int
    end_line: int
    signature: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    doc: str = ""
    visibility: str = ""
    exported: bool = False
    decorators: tuple[str, ...] = ()
    complexity: int = 0
    calls: tuple[str, ...] = ()
    imports_used: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


_NO_FACTS: Mapping[str, Fact] = {}


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol of a program, and where it is defined.

    Attributes:
        name: qualified, parts joined by ".".
        kind: as in `Piece.kind`.
        first_line: of the declaration, without comments, decorators and attributes above it; 1-based, as all three.
        line: with the declared name.
        end_line: last line of the symbol, inclusive.
        is_guessed: whether only its lines tell it, since the grammar could not read them.
    """

    name: str
    kind: str
    first_line: int
    line: int
    end_line: int
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """The lines of a symbol, 1-based and inclusive.

    Attributes:
        name: qualified; for an addition such as `impl Stack`, the type's.
        begins: the first line of its comments, decorators and attributes.
        first: the first line of the declaration.
        last: its last line.
    """

    name: str
    begins: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Extents of all symbols of a program in order, and first and last lines of its imports."""

    extents: tuple[Extent, ...] = ()
    imports: tuple[tuple[int, int], ...] = ()


class Piece(NamedTuple):
    """A span of the text with its facts, as a chunker cuts it; later completed to a `Chunk`.

    Attributes:
        start, end: characters of the document's text.
        kind: in the field's words: function, method, class, enum, section, text, imports, code ...
        symbol: qualified name of the (first) symbol in it, parts joined by "."; a heading path joined by " > ".
        defines: qualified names of all symbols beginning in it, in order.
        context: lines from around it (enclosing declarations, the signature of a split symbol); never part of the text.
        overlap: characters before start, repeated from the previous piece.
        level: depth in a tree of pieces; the following pieces with higher levels are its descendants.
        content: the text as people read it, if the source is an encoding of it (a notebook's JSON, HTML); else "".
        headings: titles of the sections around it, outermost first.
        facts: see `Metadata.facts`.
        symbols: see `Chunk.symbols`.
        definitions: see `Chunk.definitions`.
    """

    start: int
    end: int
    kind: str
    symbol: str = ""
    defines: tuple[str, ...] = ()
    context: str = ""
    overlap: int = 0
    level: int = 0
    content: str = ""
    headings: tuple[str, ...] = ()
    facts: Mapping[str, Fact] = _NO_FACTS
    symbols: tuple[SymbolFacts, ...] = ()
    definitions: tuple[Definition, ...] = ()


Cut = tuple[list[Piece], list[str]]
"""Pieces in order, leaving out only blank text, and warnings: a chunker's result."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a chunk beside its text and place; one schema for every content type.

    Attributes:
        source, url, created_at: see `Document`.
        source_type: "code", "documentation", "javadoc", "config", "data" or "issue".
        content_type: the name of its language or format.
        natural_language: of its prose, as an ISO 639-1 code ("en", "ja"); empty for too little prose.
        headings: titles of the sections around it, outermost first.
        has_code: whether a document's chunk shows code.
        package, module: of the document, if its language has such; joined by ".".
        class_name, fqcn: of the enclosing or defined type: its own name, and with package and outer types.
        member: name of the function, method or field, without the type's.
        facts: for some content types only: "page", "key_path", "number", "state", "labels", "line" ... Of any type:
            "issues", the numbers of issues it refers to, as "owner/name#number" those of other projects.
    """

    source: str = ""
    url: str = ""
    created_at: str = ""
    source_type: str = ""
    content_type: str = ""
    natural_language: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    has_code: bool = False
    package: str = ""
    module: str = ""
    class_name: str = ""
    fqcn: str = ""
    member: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A complete chunk of a document: `text == document.text[start:end]`.

    Attributes:
        id: hash of (path, text, occurrence among equal texts of the document) as 16 hex digits; stable when lines move.
        path: the document's path.
        language: the document's language.
        strategy: the chunker's name: "code", "markdown", "prose", "fixed", "sentence" ...
        text: exactly the characters from start to end.
        start, end: characters of the document's text.
        start_byte, end_byte: bytes of the text's UTF-8 form.
        start_line, end_line: 1-based, inclusive; a line ends at a line feed.
        tokens: estimated tokens of the text.
        kind, symbol, defines, context: see `Piece`.
        index, total: position among the document's chunks, and their number.
        overlap_before, overlap_after: characters shared with the previous and next chunk.
        parent, children: ids of the chunks around and inside it, in a tree of chunks.
        level: depth in the tree, from 0.
        content: see `Piece`.
        metadata: see `Metadata`.
        symbols: facts of the symbols beginning in it, in order; only with `ChunkOptions.details`.
        definitions: of a program's symbols beginning in it, in order.
    """

    id: str
    path: str
    language: str
    strategy: str
    text: str
    start: int
    end: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    tokens: int
    kind: str
    symbol: str
    defines: tuple[str, ...]
    context: str
    index: int
    total: int
    overlap_before: int = 0
    overlap_after: int = 0
    parent: str = ""
    children: tuple[str, ...] = ()
    level: int = 0
    content: str = ""
    metadata: Metadata = field(default_factory=Metadata)
    symbols: tuple[SymbolFacts, ...] = ()
    definitions: tuple[Definition, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkStatistics:
    """Number of chunks of one document, their sizes in tokens, and the wall time of chunking in seconds."""

    chunks: int
    mean_tokens: float
    min_tokens: int
    max_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """The chunks of a document in order, with statistics and warnings for people.

    Attributes:
        chunks: ordered by start; a chunk comes before the chunks inside it.
        statistics: sizes and time.
        warnings: a sentence each.
        vectors: one row a chunk, shape (chunks, dimensions), from strategies with embeddings; else None.
    """

    chunks: tuple[Chunk, ...]
    statistics: ChunkStatistics
    warnings: tuple[str, ...] = field(default=())
    vectors: "NDArray[np.float32] | None" = field(default=None, compare=False)


CLASS_NOTE, FIELDS_NOTE = "// Class: ", "// Fields: "
"""Prefixes of context lines with facts also found elsewhere, for readers of the chunk alone."""

Values = ParamSpec("Values")
Made = TypeVar("Made")


def maker(frozen: Callable[Values, Made]) -> Callable[Values, Made]:
    """Return a function making objects of a frozen dataclass with slots, from values in the order of its fields.

    Its own constructor takes three to ten times as long, since it sets each field by a call of `object.__setattr__`.
    The function fills a twin, not frozen, and then gives it the class.
    """
    made: Any = frozen
    defaults = [field(default=it.default, default_factory=it.default_factory) for it in fields(made)]
    own = [(it.name, it.type, default) for it, default in zip(fields(made), defaults, strict=True)]
    twin: Any = make_dataclass(made.__name__, own, slots=True)

    def make(*values: object) -> object:
        it = twin(*values)
        it.__class__ = made
        return it

    return cast("Callable[Values, Made]", make)

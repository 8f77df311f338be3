"""Read a file as it is now, in a worker: its text with secrets redacted, its definitions, and how its lines belong."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cqm.chunkers.model import ChunkOptions, Definition, Document, Layout
from cqm.index.files.scan import FoundFile, read_file
from cqm.index.model.errors import NotIndexedError, WorkerError
from cqm.index.model.options import ScanOptions
from cqm.index.model.secrets import SecretFinding
from cqm.index.workers import Workers

_NO_LAYOUT = Layout()


@dataclass(frozen=True, slots=True)
class FreshFile:
    """A file as it is now.

    Attributes:
        text: with secrets redacted; empty if it is skipped.
        skip: the reason for leaving it out; empty for none.
        layout: of its lines; empty unless it was asked for and a grammar can read it.
    """

    text: str = ""
    hash: str = ""
    language: str = ""
    skip: str = ""
    secrets: tuple[SecretFinding, ...] = ()
    definitions: tuple[Definition, ...] = ()
    layout: Layout = _NO_LAYOUT


@dataclass(frozen=True, slots=True)
class FreshFiles:
    """Reads the files of an index.

    Attributes:
        scan, chunk: its options.
    """

    root: Path
    scan: ScanOptions
    chunk: ChunkOptions

    def read(self, workers: Workers, found: FoundFile, *, parses: bool) -> FreshFile:
        """Read a file of the index's scope.

        Parameters:
            parses: whether definitions and layout are needed; without them where a parser does not survive the file.

        Raises:
            NotIndexedError: its content is a reason to leave it out.
            VanishedFileError, UnreadableFileError: it cannot be read.
        """
        work = partial(_read, self)
        try:
            fresh = workers.run_one(work, (found.path, parses), FreshFile, size=found.size)
        except WorkerError:
            if not parses:
                raise
            fresh = workers.run_one(work, (found.path, False), FreshFile, size=found.size)
        if fresh.skip:
            raise NotIndexedError(f"{found.path} is not indexed: {fresh.skip}.")
        return fresh


def _read(files: FreshFiles, task: tuple[str, bool]) -> FreshFile:
    path, parses = task
    read = read_file(files.root, path, files.scan)
    if read.skip is not None:
        return FreshFile(skip=read.skip.value)
    # Loaded by the process forking the workers only: its clients don't parse.
    from cqm.chunkers.chunking import chunk
    from cqm.chunkers.detect import language_of
    from cqm.chunkers.facts.layout import layout_of
    from cqm.chunkers.languages.table import dialect_of

    language = dialect_of(language_of(path, read.text), read.text)
    fresh = FreshFile(read.text, read.content_hash, language, secrets=read.secrets)
    if not parses:
        return fresh
    document = Document(path, read.text, language)
    definitions = tuple(it for part in chunk(document, files.chunk).chunks for it in part.definitions)
    return replace(fresh, definitions=definitions, layout=layout_of(document, files.chunk))

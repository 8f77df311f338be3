"""Keep in memory the fields of chunks and files needed for ranking.

In a search only the store's searches cost more than reading them, and most chunks answering one question were
candidates for another. The cache equals the manifest: chunks of a file written since are read again.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any

from cqm.index.manifest.manifest import Manifest
from cqm.index.ranking.evidence import Candidate
from cqm.index.store.base import file_point_id

_MOST = 1 << 17
"""Chunks kept, about 1,000 bytes each; those read first go first."""
_MOST_TEXTS = 512
"""Texts kept, those of some twenty questions."""
_COLUMNS = tuple(field.name for field in fields(Candidate) if field.init and field.name != "is_generated")


class Candidates:
    """Chunks and files of an opened generation. Its methods may be called from any thread."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._lock = threading.Lock()
        self._chunks: dict[str, tuple[Candidate, int]] = {}
        self._paths: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._generated: tuple[int, frozenset[str]] = (-1, frozenset())

    def of(self, ids: Iterable[str]) -> list[Candidate]:
        """Return the chunks by id; ids without a committed file are left out."""
        self.generated()
        found, unknown = [], []
        written = self._manifest.written_at
        for name in ids:
            candidate, read_at = self._chunks.get(name, _NONE)
            if candidate is not None and written.get(candidate.path, 0) <= read_at:
                found.append(candidate)
            else:
                unknown.append(name)
        return found + self._read(unknown) if unknown else found

    def _read(self, ids: Sequence[str]) -> list[Candidate]:
        # Taken before the rows: chunks written in between count as older, and are read again.
        read_at = self._manifest.commits
        rows = self._manifest.columns_of(ids, _COLUMNS)
        # Tuples of names: the collector of cycles looks at lists again and again.
        generated = self.generated()
        read = [
            Candidate(name, path, tuple(defines), *[*rest, path in generated]) for name, path, defines, *rest in rows
        ]
        with self._lock:
            for name in [*islice(self._chunks, max(0, len(self._chunks) + len(read) - _MOST))]:
                del self._chunks[name]
            self._chunks.update((candidate.id, (candidate, read_at)) for candidate in read)
        return read

    def generated(self) -> frozenset[str]:
        """Return the paths of generated files in the index; read again after each commit."""
        commits, paths = self._generated
        if commits != self._manifest.commits:
            # Taken before the paths: a commit in between is looked at again.
            commits = self._manifest.commits
            before, paths = paths, self._manifest.generated()
            if paths != before:
                # A file may be read again without a change of its chunks, as after an import.
                with self._lock:
                    self._chunks = {}
            self._generated = commits, paths
        return paths

    def texts(
        self, chunks: Sequence[Candidate], read: Callable[[Sequence[str]], Mapping[str, Mapping[str, Any]]]
    ) -> list[str]:
        """Return the shown texts of chunks; long gone ones have an empty text.

        Parameters:
            read: returns payloads with `text` and `content` by id; asked for chunks without a remembered text.
        """
        texts = [self._texts.get(chunk.digest, "") for chunk in chunks]
        unknown = [chunk.id for chunk, text in zip(chunks, texts, strict=True) if not text]
        payloads = read(unknown) if unknown else {}
        for place, chunk in enumerate(chunks):
            if not texts[place] and (payload := payloads.get(chunk.id)):
                texts[place] = str(payload.get("content") or payload.get("text", ""))
                # The digest is the text's; a content may be another in another file.
                if chunk.digest and not payload.get("content"):
                    self._remember(chunk.digest, texts[place])
        return texts

    def _remember(self, digest: str, text: str) -> None:
        with self._lock:
            if len(self._texts) >= _MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
            self._texts[digest] = text

    def paths(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return scores of files by path, from scores by point id; files without a commit are left out."""
        if not scores.keys() <= self._paths.keys():
            self._read_paths()
        return {self._paths[name]: score for name, score in scores.items() if name in self._paths}

    def _read_paths(self) -> None:
        """Map the point ids of files to their paths. The ids are hashes of the paths, so the map never ages."""
        written = self._manifest.written_at.copy()
        known = set(self._paths.values())
        new = written.keys() - known if known else self._manifest.file_paths()
        self._paths.update({file_point_id(path): path for path in new})


_NONE: tuple[None, int] = (None, 0)

"""Make and open shards of Qdrant Edge, and translate searches and errors."""

import ctypes
import errno
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import CHECK_DISK, REBUILD, DamagedIndexError, StoreError, remedy_of_shortage
from cqm.index.store.base import KEYWORDS, WORDS, Nearest, PointFilter, stored_id
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    import qdrant_edge


# One thread searches them one after the other. At 887 chunks a second one takes 9% more time for a search and 25% more
# for an edit, 100 MB of mapped memory and as much disk; at 98,720 chunks a search takes as long with it.
_SEGMENTS = 1
# With Edge's own 8 threads, which each search wakes, a question takes .8 ms more of processor time on two cores. It is
# answered as fast at 24,680 chunks (3.8 ms), and a little sooner at 98,720 (5.0 ms instead of 5.5).
_THREADS = 1

# A scan of 4-bit codes returns this many times the wanted number, and the float16 vectors decide among them. At 98,632
# chunks it found all of the exact first 100 for each of 200 questions, in .57 ms; 3.0 takes .68 ms, an exact scan 5.2.
_OVERSAMPLING = 2.0

# The graph of a part of a large base takes .2 ms a vector to build. A search is this many times as wide as its limit.
# In 17 parts of 1,395,281 chunks, each asked for its share, .998 of the exact first 100 were found for 100 questions
# (the worst .95) in 10 ms; a scan takes 29. In one part of 131,072 points .993 were found, and no time was saved.
_LINKS, _BUILD_WIDTH, _SEARCH_WIDTH = 24, 200, 6
_SCANNED = 40_000
"""Vectors of a base that are scanned: all of them, or those that a filter leaves. With a filter for a quarter of them a
graph finds .86 of the first 100, with one for three quarters .98. Links for each language would double its time."""
_FLOAT16_BYTES = 2
_LEAST_MAPPED_KB = 1
"""A base with more vectors than this is written in mapped form."""
_PAGE_OUT = 21
"""MADV_PAGEOUT of madvise(2), Linux 5.4 and later: the pages go, and come again when they are read. Nothing is lost."""
_MOSTLY = 4
"""A file this many times larger than its size on disk is mostly holes."""
_UNKNOWN = {errno.EINVAL, errno.EPERM}

OPENED = "opened"
_PANIC = "PanicException"
# Rust's two forms of system errors. A missing file, or something else in its place, is damage; other errors may pass.
_OS_ERROR = re.compile(r"\(os error (\d+)\)|\bOs \{ code: (\d+)")
_DAMAGE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL}


def make_shard(
    folder: Path, spaces: Mapping[str, int], *, weighs: bool, is_base: bool = False, has_graph: bool = False
) -> "qdrant_edge.EdgeShard":
    """Make an empty shard in a new folder, and open it.

    Parameters:
        spaces: dimensions of its vectors by the names of their spaces.
        weighs: whether words are weighed by their document frequencies.
        is_base: whether it is filled once, optimized, and then only read: it is mapped from disk and has no log.
        has_graph: whether the vectors of such a base are searched by a graph where they are many; it misses a few.
    """
    import qdrant_edge as edge

    folder.mkdir(mode=0o700, parents=True)
    where = edge.Memory.Cold if is_base else None
    words = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if weighs else None, memory=where)
    config = edge.EdgeConfig(
        vectors={
            name: _vectors(dimensions, is_base=is_base, has_graph=has_graph) for name, dimensions in spaces.items()
        }
        or None,
        sparse_vectors=dict.fromkeys(WORDS, words),
        # m=0 builds no graph: a scan is fast enough up to about 300,000 points.
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=8, full_scan_threshold=10),
        quantization_config=edge.TurboQuantQuantizationConfig(bits=edge.TurboQuantBitSize.Bits4),
        optimizers=edge.EdgeOptimizersConfig(
            default_segment_number=_SEGMENTS, indexing_threshold=_LEAST_MAPPED_KB if is_base else None
        ),
        max_search_threads=_THREADS,
        payload_memory=where,
        id_tracker_memory=edge.Memory.Cached if is_base else None,
        wal_enabled=not is_base,
    )
    shard = edge.EdgeShard.create(str(folder), config)
    keyword = edge.KeywordIndexParams(memory=where) if is_base else edge.PayloadSchemaType.Keyword
    for key in KEYWORDS:
        shard.update(edge.UpdateOperation.create_field_index(key, keyword))
    shard.flush()
    return shard


def _vectors(dimensions: int, *, is_base: bool, has_graph: bool) -> "qdrant_edge.EdgeVectorParams":
    import qdrant_edge as edge

    float16, where = edge.VectorStorageDatatype.Float16, edge.Memory.Cold if is_base else None
    kilobytes = _SCANNED * dimensions * _FLOAT16_BYTES >> 10
    graph = edge.HnswIndexConfig(_LINKS, _BUILD_WIDTH, kilobytes, payload_m=0, memory=where) if has_graph else None
    return edge.EdgeVectorParams(dimensions, edge.Distance.Dot, datatype=float16, hnsw_config=graph, memory=where)


def load_shard(folder: Path) -> "qdrant_edge.EdgeShard":
    """Open the shard in a folder, replaying its log after the last flush."""
    import qdrant_edge as edge

    shard = edge.EdgeShard.load(str(folder))
    let_go_of_holes(folder)
    return shard


def let_go_of_holes(folder: Path) -> None:
    """Give back the memory of mapped files that are mostly holes; does nothing but on Linux.

    Edge maps its files whole and has the system read them at once. A fresh file of 4 MB holds some kilobytes, and there
    are over a hundred such files: a small index takes 190 MB of zeros.

    Parameters:
        folder: of the files, with subfolders.
    """
    if sys.platform != "linux":
        return
    inside, libc = f"{os.path.realpath(folder)}{os.sep}", ctypes.CDLL(None, use_errno=True)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as mapped:  # noqa: PTH123 - as the rest
        for line in mapped:
            # Its addresses, rights, offset, device, number of the file, and path; see proc(5).
            addresses, _, path = line.rstrip("\n").partition(" ")
            path = path[path.find(os.sep) :]
            if not path.startswith(inside) or not _is_mostly_holes(path):
                continue
            start, end = (int(number, 16) for number in addresses.split("-"))
            if libc.madvise(start, end - start, _PAGE_OUT) and ctypes.get_errno() in _UNKNOWN:
                return


def _is_mostly_holes(path: str) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - text: there are hundreds
    except OSError:
        return False
    return found.st_blocks * 512 * _MOSTLY < found.st_size


def edge_query(search: Nearest) -> "qdrant_edge.QueryRequest":
    """Convert one search of a batch."""
    import qdrant_edge as edge

    vector, params = search.vector, None
    if isinstance(vector, SparseTerms):
        wanted: Any = edge.SparseVector(list(vector.indices), list(vector.values))
    else:
        wanted = vector.tolist()
        quantization = edge.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING)
        params = edge.SearchParams(hnsw_ef=_SEARCH_WIDTH * search.limit, quantization=quantization)
    return edge.QueryRequest(
        limit=search.limit,
        query=edge.Query.Nearest(wanted, using=search.using),
        filter=_edge_filter(search.keep) if search.keep else None,
        with_payload=False,
        params=params,
    )


def _edge_filter(keep: PointFilter) -> "qdrant_edge.Filter":
    import qdrant_edge as edge

    def any_of(key: str, values: Sequence[str]) -> list["qdrant_edge.FieldCondition"]:
        return [edge.FieldCondition(key, match=edge.MatchAny(list(values)))] if values else []

    wanted = (
        ("language", keep.languages),
        ("kind", keep.kinds),
        ("source_type", keep.sources),
        ("issues", keep.issues),
    )
    must: list[Any] = [condition for key, values in wanted for condition in any_of(key, values)]
    must += [edge.HasIdCondition({*map(stored_id, keep.ids)})] if keep.ids else []
    places: list[Any] = [*any_of("path", keep.paths), *any_of("dirs", keep.folders)]
    return edge.Filter(must=must or None, should=places or None, must_not=list(any_of("path", keep.not_paths)) or None)


@contextmanager
def translated(folder: Path, verb: str) -> Iterator[None]:
    """Turn Edge's errors in a block, plain `Exception`s, into errors of the index.

    Parameters:
        verb: the block's action on the store, for the message: "written".

    Raises:
        StoreError: Edge refused.
        DamagedIndexError: the shard is damaged, or panicked while it was open.
    """
    try:
        yield
    except CqmError:
        raise
    except BaseException as error:  # Edge raises nothing more precise; where it panics, not even an Exception
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        raise _explained(folder, verb, error) from error


def _explained(folder: Path, verb: str, error: BaseException) -> CqmError:
    message = f"The store in {folder} cannot be {verb}: {str(error).rstrip('.')}."
    told = _OS_ERROR.search(message)
    number = int(told[1] or told[2]) if told else 0
    # After a panic, the state of an open store is unknown, whatever the reason.
    if (isinstance(error, Exception) or verb == OPENED) and (shortage := remedy_of_shortage(error, number)):
        return StoreError(message, remedy=shortage)
    if number and number not in _DAMAGE:
        return StoreError(message, remedy=CHECK_DISK)
    if verb == OPENED or not isinstance(error, Exception):
        return DamagedIndexError(message, remedy=REBUILD)
    return StoreError(message, remedy=f"{CHECK_DISK} {REBUILD}")

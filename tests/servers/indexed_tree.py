"""An index of a few files, by words alone: enough for tests of names, filters and texts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions


@contextmanager
def indexed_tree(folder: Path, files: Mapping[str, str], name: str = "tree") -> Iterator[Index]:
    """Write files to a new folder, index them, and open the index while a block runs.

    Parameters:
        folder: for the tree and the index.
        files: texts by path.
        name: of the tree's folder, which questions may name.
    """
    for path, text in files.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text, encoding="utf-8")
    options = IndexOptions(home=folder / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(folder / name, options) as opened:
        opened.update()
        yield opened

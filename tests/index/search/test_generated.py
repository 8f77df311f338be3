"""Pages that a tool made of a program's comments rank below what people wrote."""

from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

PAGE = "<html><head>{}</head><body><h1>Retry</h1><p>Retries a request after a pause that grows.</p></body></html>\n"
FILES = {
    "guide/Retry.html": PAGE.format('<meta name="author" content="one of the people who made this">'),
    "api/Retry.html": PAGE.format('<meta name="generator" content="javadoc/ClassWriterImpl of this">'),
}


def test_a_page_of_a_generator_comes_after_the_same_one_that_people_wrote(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True)
        (tmp_path / "tree" / path).write_text(text)
    options = IndexOptions(home=tmp_path / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(tmp_path / "tree", options) as index:
        index.update()
        hits = index.search(Query("retries a request after a pause")).hits
        assert [hit.path for hit in hits] == list(FILES)
        assert "generated" in hits[1].parts
        assert "generated" not in index.search(Query("javadoc: retries a request after a pause")).hits[0].parts
        assert {hit.path for hit in index.search(Query("kind:reference retries")).hits} == {"api/Retry.html"}

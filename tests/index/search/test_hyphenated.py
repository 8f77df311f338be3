"""Names with hyphens, as Lisps and shells have: their definitions come first, alone, called and within a sentence."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

FILES = {
    "src/routes.clj": """\
(ns shop.routes)

(defn- route-matches [request] (:route request))

(defn wrap-canonical-redirect
  "Redirect requests for other spellings of a path."
  [handler]
  (fn [request] (handler (route-matches request))))

(defn wrap-route-matches [handler] (fn [request] (handler (route-matches request) request)))

(defn route-matches-all! [requests] (map route-matches requests))
""",
    "src/reader.el": """\
(defvar *reader-depth* 3)
(defvar *readers* nil)
(defun reader--read (text) text)
(defun reader-read-action (text) (reader--read text))
(defun reader-read (text) (reader-read-action (reader--read text)))
""",
    "CHANGES.md": """\
# Changes

- Added `wrap-canonical-redirect` as a wrapper of handlers.
- A hand-made list of paths.
""",
}
DEFINED = {
    "wrap-canonical-redirect": ("src/routes.clj", 5),
    "route-matches": ("src/routes.clj", 3),
    "route-matches-all!": ("src/routes.clj", 12),
    "reader-read": ("src/reader.el", 5),
    "reader--read": ("src/reader.el", 3),
    "*reader-depth*": ("src/reader.el", 1),
    "*readers*": ("src/reader.el", 2),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("hyphenated"), FILES) as opened:
        yield opened


@pytest.mark.parametrize("asked", ["{}", "`{}`", "({})", "({} request 3)", "where is {} defined?", "what does `{}` do"])
def test_a_name_with_hyphens_was_answered_by_longer_names_and_by_mentions(index: Index, asked: str) -> None:
    for name, place in DEFINED.items():
        first = index.search(Query(asked.format(name), limit=1)).hits[0]
        assert (first.path, first.line) == place, name


def test_usages_of_a_name_between_stars_are_told(index: Index) -> None:
    assert [it.line for it in index.usages("*readers*").definitions] == [2]


def test_a_word_with_a_hyphen_that_nothing_defines_is_a_word(index: Index) -> None:
    for question in ("hand-made", "where is hand-made defined"):
        assert index.search(Query(question, limit=1)).hits[0].path == "CHANGES.md"

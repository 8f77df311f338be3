"""Text that stands in one place is found there: quoted, as a program prints it, and in the code of an issue."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Hit, Query

pytestmark = pytest.mark.processes

NEAR = '''def make_view_{n}(view):
    """Return the view, the function, the object: view function object {n}."""
    return view.object or view.function or view.request
'''
LONG = '''def answer(view):
    """Answer a view.

{filler}
    This is what is given the view function and the object of it, whatever these are.
    """
    if view is None:
        raise ValueError(f"The parcel {{view}} has lost its label, so {{view!r}} stays here")
    if view.closed:
        raise KeyError(f"{{view!r}} is function or object, or view of a request")
    shelf = sorted(view.letters, key=len)
    total = sum(letter.weight for letter in shelf)
    view.ledger.append(("weighed", total, shelf[0]))
    return total
'''
FILLER = "\n".join(
    f"    Sentence {n} tells of trees, of rivers number {n * 7}, of hills and of the weather." for n in range(9)
)
FILES = {
    **{f"near/view_{n}.py": NEAR.format(n=n) for n in range(70)},
    "far/answer.py": LONG.format(filler=FILLER),
    "far/shop.html": f"<p>{' '.join(f'word{n} view' for n in range(150))}</p>\n<h2>View object</h2>\n",
    "far/send.py": "def send(view):\n    if not view.open:\n"
    "        log.error('object of view failed: %s', view.reason)\n    return view\n",
    "near/test_send.py": "def test_send():\n"
    "    assert view(Mint(reason='timeout', of='view')) == Mint(reason='timeout')\n",
    "far/error.py": "class IllegalParcelError(Exception):\n"
    '    """An illegal parcel error: raised for an illegal parcel, in error."""\n',
}
PROSE = "It happens about once in two hundred runs, mostly under load. Going back to the last release helps. " * 6


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("literals"), FILES) as opened:
        yield opened


def first(index: Index, question: str) -> Hit:
    return index.search(Query(question)).hits[0]


@pytest.mark.parametrize(
    "phrase",
    [
        pytest.param('"the view function and the object"', id="of words that most chunks have"),
        pytest.param('"ven the view function and the obj"', id="cut within its first and last word"),
        pytest.param('"THE VIEW  function and the object"', id="in another case, with other blanks"),
    ],
)
def test_a_quoted_phrase_is_found_in_the_one_chunk_that_has_it(index: Index, phrase: str) -> None:
    assert first(index, phrase).path == "far/answer.py"


def test_a_quoted_phrase_that_nothing_has_is_answered_by_its_words(index: Index) -> None:
    assert first(index, '"function of the object view"').path.startswith("near/")


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("The parcel 4711 has lost its label, so '/tmp/x' stays here", id="with values"),
        pytest.param("IllegalParcelError: illegal parcel: has lost its label, so 3 stays here", id="after a head"),
        pytest.param("app-1  | ERROR error: has lost its label, so", id="after the head of a log"),
        pytest.param("has lost its label, so (exit code 1)", id="before a tail"),
        pytest.param("ERROR has lost its label, so", id="after a level without a colon"),
        pytest.param('{"status": 500, "message": "The parcel 12 has lost its label, so 12 stays"}', id="in JSON"),
    ],
)
def test_a_message_is_found_where_its_literal_parts_stand(index: Index, message: str) -> None:
    assert first(index, message).path == "far/answer.py"


@pytest.mark.parametrize("form", ["```python\n{}\n```", "~~~\n{}\n~~~", "\n{}\n"], ids=["fence", "tildes", "indented"])
def test_code_within_an_issue_is_found_where_it_stands(index: Index, form: str) -> None:
    code = "    shelf = sorted(view.letters, key=len)\n    total = sum(letter.weight for letter in shelf)"
    issue = (
        f"**Bug**\nThe view function object is wrong. {PROSE}\n\nThis looks wrong:\n\n{form.format(code)}\n\n{PROSE}"
    )
    assert first(index, issue).path == "far/answer.py"


def test_code_with_a_renamed_variable_is_found_by_its_other_lines(index: Index) -> None:
    code = "view = sorted(view.object, key=function)\ntotal = sum(letter.weight for letter in view)\nreturn view.object"
    assert first(index, f'{code}\nview.ledger.append(("weighed", total, view[0]))').path == "far/answer.py"


def test_code_with_other_blanks_around_its_signs_was_answered_by_all_of_its_words(index: Index) -> None:
    assert index.search(Query("shelf=sorted( view.letters,key = len )")).hits[0].parts.get("exact")


def test_a_plain_question_with_three_words_of_a_text_is_answered_by_all_of_its_words(index: Index) -> None:
    assert first(index, "how is the view function object made").path.startswith("near/")


def test_a_request_is_no_message_though_it_has_signs_and_words_in_a_row_of_some_text(index: Index) -> None:
    hits = index.search(Query("add to the view: an object, so that the view function and the object of it are 2")).hits
    assert not any("exact" in hit.parts for hit in hits)


@pytest.mark.parametrize("caption", ["View object", "View  object "])
def test_the_two_words_of_a_button_were_answered_by_chunks_with_both_words(index: Index, caption: str) -> None:
    assert first(index, caption).path == "far/shop.html"
    assert first(index, caption.lower()).path != "far/shop.html"


def test_a_message_was_answered_by_a_test_with_the_same_value(index: Index) -> None:
    message = "12:01 [error] object of view failed: Mint(reason='timeout', of='view')"
    assert first(index, message).path == "far/send.py"


def test_a_message_was_lost_where_a_plain_word_of_it_was_a_value(index: Index) -> None:
    assert first(index, "bob is function or object, or view of a request.").path == "far/answer.py"


def test_a_topic_was_answered_by_a_changelog_or_a_comment_with_its_words(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2\n\n- commit message history in the popup\n")
    (tree / "other.py").write_text("# the commit message history is elsewhere\nLIMIT = 3\n")
    code = (
        "class CommitHistory:\n    def message(self, number):\n        return self.history_of_commit_messages[number]\n"
    )
    (tree / "commit_history.py").write_text(code)
    with Index.open(tree, IndexOptions(home=tmp_path / "home", workers=1)) as index:
        index.update()
        assert first(index, "commit message history").path == "commit_history.py"
        assert first(index, '"commit message history"').path != "commit_history.py"


def test_a_caption_was_answered_by_a_changelog_or_a_comment_with_its_words(tmp_path: Path) -> None:
    """A page's headings are kept as in Markdown, "## Place order", and were taken for comments."""
    code = "class GIFImage:\n    def duration(self, frame):\n        return self.durations_of_gif_frames[frame]\n"
    files = {
        "CHANGELOG.md": "# Changelog\n\n## 1.2\n\n- GIF frame duration in the popup\n",
        "other.py": "# GIF frame duration\nLIMIT = 3\n",
        "gif_image.py": code,
        "docs/guide.md": "# Guide\n\n## Weekly reports\n\nThey are sent.\n\n## Order\n\nPlace order here.\n",
        "weekly_reports.py": "def send_weekly_reports(reports):\n    return reports\n",
        "shop.html": "<h1>Shop</h1>\n<h2>Place order</h2>\n",
    }
    with indexed_tree(tmp_path, files) as index:
        assert first(index, "GIF frame duration").path == "gif_image.py"
        assert first(index, '"GIF frame duration"').path != "gif_image.py"
        assert first(index, "Place order").path == "shop.html"
        assert first(index, "Weekly reports").path == "docs/guide.md"
        assert first(index, "weekly reports").path == "weekly_reports.py"


def test_a_text_of_the_screen_was_not_found_in_a_program_that_is_translated_to_many_languages(tmp_path: Path) -> None:
    catalogs = {
        f"locale/l{n}/django.po": '#: a.html:3\nmsgid "Number in stock"\nmsgstr "Anzahl"\n' * 3 for n in range(30)
    }
    page = "<h1>Parcel</h1>\n<p>{% trans 'Number in stock' %}</p>\n"
    near = {f"a{n}.py": f"def stock_{n}(number):\n    return stock[number] in stock\n" for n in range(12)}
    with indexed_tree(tmp_path, {**catalogs, **near, "shop/parcel.html": page}) as index:
        assert index.search(Query("Number in stock")).hits[0].path == "shop/parcel.html"

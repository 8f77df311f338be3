"""A name within a sentence or an issue leads to its definition; plain words that are also symbols stay words."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Confidence, Hit, Query

pytestmark = pytest.mark.processes

DECOY = '''def is_defined_in(shelf_{n}, parcel):
    """Whether the parcel classes are defined in the shelf; where a parcel class is defined, what it does, who calls."""
    return parcel.defined in shelf_{n}.classes
'''
FILES = {
    **{f"shop/shelf_{n}.py": DECOY.format(n=n) for n in range(12)},
    "shop/util.py": '"""Small things."""\n\n\ndef parcel_classes_in(text):\n    return list(text)\n',
    "shop/groups.py": "class AppGroup:\n    def __init__(self, name):\n        self.name = name\n",
    "shop/state.py": "def state():\n    return None\n",
    "shop/orders.py": "def send_away(order):\n    order.gone = True\n",
    "shop/day.py": "def day(orders):\n    for order in sorted(orders):\n        send_away(order)\n"
    "        order.gone = AppGroup()\n",
    "tests/test_groups.py": "def AppGroup():\n    return None\n",
    "lib/options.rb": "class Options\n  def check_unknown!\n    @unknown.clear\n  end\nend\n",
    "docs/state.md": "# The state of an order\n\nAn order keeps its state: where is the state of an order defined.\n",
}
PROSE = "It happens about once in two hundred runs, mostly when a parcel class is defined in the shelf. " * 8


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("sentences"), FILES) as opened:
        yield opened


def first(index: Index, question: str) -> Hit:
    return index.search(Query(question)).hits[0]


@pytest.mark.parametrize(
    "sentence",
    [
        "where is {} defined",
        "where is `{}` defined?",
        "what does {} do?",
        "what is the purpose of {}()?",
        "fix the bug in {}",
        "add a parameter to {}",
        "Wo ist {} definiert?",
    ],
)
@pytest.mark.parametrize(
    ("name", "path"), [("parcel_classes_in", "shop/util.py"), ("AppGroup", "shop/groups.py")], ids=["snake", "humps"]
)
def test_a_plain_sentence_about_a_name_is_answered_by_its_definition(
    index: Index, sentence: str, name: str, path: str
) -> None:
    hit = first(index, sentence.format(name))
    assert (hit.path, hit.symbol) == (path, name)


@pytest.mark.parametrize("name", ["`send_away`", "send_away()", "`Options.check_unknown!`", "`state`"])
def test_a_marked_name_in_a_long_text_leads_to_its_definition(index: Index, name: str) -> None:
    hit = first(index, f"{PROSE}The cause seems to be in {name}, which returns too early. {PROSE}")
    assert hit.symbol == name.strip("`()")


def test_the_name_in_the_title_of_an_issue_leads_to_its_definition(index: Index) -> None:
    issue = f"AppGroup returns too early\n\n**Describe the bug**\n{PROSE}\n\n**Versions**\n- OS: Debian 12\n"
    assert first(index, issue).path == "shop/groups.py"


def test_identifiers_in_backticks_come_before_plain_words_in_backticks(index: Index) -> None:
    assert first(index, f"{PROSE}Both `state` and `send_away` are wrong. {PROSE}").symbol == "send_away"


def test_a_plain_word_that_is_also_a_symbol_stays_a_word(index: Index) -> None:
    assert first(index, "where is the state of an order defined").path == "docs/state.md"


def test_a_filter_holds_for_the_names_of_a_text_too(index: Index) -> None:
    hits = index.search(Query(f"{PROSE}See `send_away`.", exclude=("shop/orders.py",))).hits
    assert hits
    assert all(hit.path != "shop/orders.py" for hit in hits)


def test_code_that_stands_in_a_file_comes_before_the_definitions_of_the_names_in_it(index: Index) -> None:
    assert (
        first(index, "for order in sorted(orders):\n    send_away(order)\n    order.gone = AppGroup()").path
        == "shop/day.py"
    )


@pytest.mark.parametrize(
    "question",
    ["what does subprocess.send_away() do", "what is the purpose of unittest.mock.send_away()"],
)
def test_a_sentence_about_a_function_of_another_library_is_not_surely_answered_by_one_of_that_name(
    index: Index, question: str
) -> None:
    own = first(index, question.replace("subprocess.", "").replace("unittest.mock.", ""))
    assert (own.chance or 0) > 0.9
    assert (first(index, question).chance or 0) < 0.5


def test_a_name_in_backticks_at_the_end_of_a_text_about_something_else_makes_no_sure_answer(index: Index) -> None:
    text = "The ingress of the cluster answers with 502 when a node is drained and its pods are evicted. " * 4
    assert index.search(Query(f"{text}The last thing printed by the pod is `state`.")).confidence is not Confidence.HIGH


@pytest.mark.timeout(20)  # in the square of its parts it takes minutes
def test_a_name_of_thousands_of_parts_is_looked_up_once(index: Index) -> None:
    assert index.search(Query("a." * 20_000 + "state")).complete

"""Questions about data: statements of SQL without their values, columns, texts, sparse format strings, rows."""

import time
from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Answer, Confidence, Query
from cqm.index.text.format_strings import best_made, forms_of_line

pytestmark = pytest.mark.processes

COUNTED = "SELECT count(guid) FROM item WHERE unread = ? AND guid = ?"

FILES = {
    "src/cache.cpp": 'void Cache::init() {\n  run("CREATE TABLE item (guid TEXT, unread INT, content TEXT);");\n}\n\n'
    'int Cache::unread(Guid guid) {\n  auto sql = "SELECT count(guid) "\n'
    '    "FROM item WHERE unread = 1 AND guid = :guid;";\n  return run(sql, guid);\n}\n',
    "src/a.cpp": "void Cache::mark(Guid guid) {\n"
    '  run("SELECT count(guid) FROM item WHERE unread = 1 AND guid = \'%q\' LIMIT 3;", guid);\n}\n',
    "src/item.h": "struct Item {\n  bool unread;\n  Guid guid;\n  Content content;\n  int count();\n};\n",
    "src/levels.c": "#include <stdio.h>\n\nvoid summary(struct level *l, int files) {\n"
    '  printf("%d@%d + %d@%d files", l->n, l->at, l->m, l->to);\n}\n\n'
    'void nodes(struct node *n) {\n  printf("node %" PRIu64 "(%d), sons %d(%d)\\n", n->id, n->w, n->a, n->b);\n}\n',
    "src/files.c": "/* Files of a level, and sons. */\nint files_of_node(struct node *n) {\n  return n->files;\n}\n",
    "db/schema.sql": "CREATE TABLE invoice (\n  invoice_id INT,\n  vat_rate DECIMAL(5, 2)\n);\n",
    "db/upgrades/2.sql": "ALTER TABLE invoice ADD COLUMN vat_rate DECIMAL(5, 2);\n",
    "data/runs.csv": "Run,Latency Ms,Node\n" + "".join(f"{n},{n * 7},node-{n % 5}\n" for n in range(400)),
    "app/src/main/res/values/strings.xml": '<resources>\n  <string name="file_taken">File already exists</string>\n'
    '  <string name="file_gone">The file can\\\'t be found</string>\n</resources>\n',
    "app/src/main/res/values-de/strings.xml": '<resources>\n'
    '  <string name="file_taken">Datei existiert bereits</string>\n</resources>\n',
    "app/src/main/java/Save.java": "class Save {\n  void save(File file) {\n    if (file.exists()) {\n"
    "      show(R.string.file_taken);\n    }\n  }\n}\n",
    "web/i18n/fr.json": '{\n  "cart": {\n    "empty": "Votre panier est vide"\n  },\n  "list": {\n'
    '    "empty": "Votre liste est vide"\n  }\n}\n',
    "web/Cart.vue": "<template>\n  <p>{{ $t('cart.empty') }}</p>\n</template>\n",
    "web/List.vue": "<template>\n  <p>{{ $t('list.empty') }}</p>\n</template>\n",
    "po/nl.po": 'msgid "history of commands"\nmsgstr "geschiedenis van opdrachten"\n',
    "src/history.py": "def title():\n    return _('history of commands')\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("contents"), FILES, "shop") as opened:
        yield opened


def ask(index: Index, text: str) -> Answer:
    return index.search(Query(text))


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        # The whole statement comes before a longer one that begins with it.
        (COUNTED, "src/cache.cpp", 6),
        ("duration: 812 ms  statement: " + COUNTED.lower().replace("?", "'x7'"), "src/cache.cpp", 6),
        ("which table has column vat_rate", "db/schema.sql", 3),
        ("which csv file has the column Latency Ms?", "data/runs.csv", 1),
        ("column Node of runs.csv", "data/runs.csv", 1),
        ("371,2597,node-1", "data/runs.csv", 373),
        ("2026-11-27 10:11:12 INFO 4@0 + 2@1 files", "src/levels.c", 4),
        ("[1732] node 9916(5642), sons 7329(57)", "src/levels.c", 8),
        ("Datei existiert bereits", "app/src/main/res/values-de/strings.xml", 2),
        ('the code that shows "Datei existiert bereits"', "app/src/main/java/Save.java", 4),
        ('the code that shows "Votre liste est vide"', "web/List.vue", 2),
        ('where is "Votre panier est vide" shown', "web/Cart.vue", 2),
        ('the code that shows "geschiedenis van opdrachten"', "src/history.py", 2),
    ],
)  # fmt: skip
def test_what_data_say_is_found(index: Index, text: str, path: str, line: int) -> None:
    hit = ask(index, text).hits[0]
    assert (hit.path, hit.asked_line) == (path, line)


def test_a_shown_text_is_followed_by_the_code_that_uses_its_key(index: Index) -> None:
    assert "app/src/main/java/Save.java" in [it.path for it in ask(index, "Datei existiert bereits").hits[:2]]


def test_a_column_that_no_table_has_is_told(index: Index) -> None:
    assert ask(index, "which table has column shoe_size").confidence is not Confidence.HIGH


@pytest.mark.parametrize(
    "line", ["SELECT name FROM shoe WHERE size = ?", "7 + 2 shoes", "Datei wurde gelöscht", "9,81,node-99"]
)
def test_what_nothing_says_pins_nothing(index: Index, line: str) -> None:
    assert not [hit for hit in ask(index, line).hits if hit.asked_line]


def test_numbers_of_a_format_string_are_numbers() -> None:
    assert best_made(forms_of_line("4@0 + 2@1 files"), 'f("%d@%d + %d@%d files")') is not None
    assert best_made(forms_of_line("a@0 + 2@1 files"), 'f("%d@%d + %d@%d files")') is None


@pytest.mark.parametrize("part", ["%s(", "%d@", "{", "${a}", '" "', "PRIu64 ", "%s%s:"])
def test_hostile_format_strings_cost_little(part: str) -> None:
    text, line = '"' + part * 5_000 + '"', ("7(" * 200)[:400]
    began = time.process_time()
    best_made(forms_of_line(line), text)
    best_made(forms_of_line("a: " * 100), f"'{part * 90}' " * 100)
    assert time.process_time() - began < 2

"""Options of command lines and tables of databases: a question that names one is answered by its declaration."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Confidence, Query

pytestmark = pytest.mark.processes

FILES = {
    "src/cli.rs": 'fn command() -> Command {\n    Command::new("race").arg(\n        Arg::new("min-runs")\n'
    '            .long("min-runs")\n            .help("Run at least so often"),\n    )\n}\n',
    "src/options.rs": "/// Options, such as the minimum of runs.\npub struct Options { pub min_runs: u64 }\n"
    'fn read(matches: &ArgMatches) -> Options { Options { min_runs: matches.get_one("min-runs") } }\n',
    "src/derived.rs": "#[derive(Parser)]\nstruct Args {\n    #[arg(short, long)]\n    dry_run: bool,\n"
    '    #[arg(\n        long,\n        value_name = "N"\n    )]\n    take_first: u8,\n}\n',
    "src/options.c": "static const struct option long_opts[] = {\n"
    '  {"keep-last"  , required_argument , 0 , 0 },\n};\nvoid keep_last (void) { /* keep last days */ }\n',
    "app/arguments.py": 'def arguments(parser):\n    parser.add_argument("--page-size", type=int)\n'
    '    parser.add_argument(\n        "-q",\n        "--no-color",\n    )\n\n'
    'def page(size):\n    """The size of a page."""\n',
    "app/commands.py": '@click.option("-d", "--data-dir", help="Data.")\ndef serve(data_dir):\n    run(data_dir)\n',
    "cmd/root.go": 'package cmd\n\nfunc init() {\n\troot.Flags().StringVarP(&level, "log-level", "l", "", "Log")\n}\n',
    "bin/program.js": "program.option('-p, --http-port <number>', 'port')\nconst httpPort = program.opts().httpPort\n",
    "lib/tasks.rb": "class Tasks < Thor\n  method_option :skip_cache, type: :boolean\n  def run; end\nend\n",
    "tools/run.sh": 'case "$1" in\n  -f|--full-check) check=1 ;;\nesac\n',
    "tests/test_cli.py": 'def test_runs():\n    run("race", "--min-runs", "3")\n    run("race", "--page-size", "3")\n',
    "README.md": "# Race\n\n`--min-runs` runs at least so often; `--page-size` is the size of a page; `--log-level`.\n",
    "app/models.py": 'class Post(Model):\n    __tablename__ = "posts"\n    title = Column(String)\n\n\n'
    'class Reader(models.Model):\n    class Meta:\n        db_table = "post_readers"\n',
    "app/queries.py": 'LAST = "SELECT id, title FROM posts ORDER BY created_at DESC LIMIT 1"\n',
    "migrations/001_posts.py": 'def upgrade():\n    op.create_table("posts", Column("id", Integer))\n',
    "db/gone.sql": "DROP TABLE `parcels`;\nDROP TABLE IF EXISTS `parcels`;\n",
    "db/schema.sql": "CREATE TABLE IF NOT EXISTS public.parcels (\n  id integer\n);\n",
    "lib/mail.ex": 'defmodule Mail do\n  schema "mails" do\n    field :subject\n  end\nend\n',
    "src/stamp.go": 'package stamp\n\nfunc (Stamp) TableName() string {\n\treturn "stamps"\n}\n',
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("keys"), FILES, "race") as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("--min-runs", "src/cli.rs"),
        ("--min-runs=3", "src/cli.rs"),
        ("race --min-runs 3 'sleep 1'", "src/cli.rs"),
        ("what does --min-runs do", "src/cli.rs"),
        ("--dry-run", "src/derived.rs"),
        ("--take-first", "src/derived.rs"),
        ("--keep-last", "src/options.c"),
        ("--page-size", "app/arguments.py"),
        ("where is `--no-color` parsed?", "app/arguments.py"),
        ("--data-dir", "app/commands.py"),
        ("--log-level", "cmd/root.go"),
        ("--http-port", "bin/program.js"),
        ("--skip-cache", "lib/tasks.rb"),
        ("--full-check", "tools/run.sh"),
    ],
)
def test_an_option_is_answered_by_its_declaration(index: Index, text: str, path: str) -> None:
    found = index.search(Query(text))
    assert (found.hits[0].path, found.confidence) == (path, Confidence.HIGH)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("table posts", "app/models.py"),
        ("the posts table", "app/models.py"),
        ("SELECT id, text FROM posts WHERE id = 3", "app/models.py"),
        ("INSERT INTO post_readers (id) VALUES (3)", "app/models.py"),
        ("sqlite3.OperationalError: no such table: posts", "app/models.py"),
        ('ERROR: relation "parcels" does not exist', "db/schema.sql"),
        ("UPDATE mails SET subject = 'x'", "lib/mail.ex"),
        ("table stamps", "src/stamp.go"),
    ],
)
def test_a_table_is_answered_by_its_declaration(index: Index, text: str, path: str) -> None:
    found = index.search(Query(text))
    assert (found.hits[0].path, found.confidence) == (path, Confidence.HIGH)


def test_a_statement_of_the_program_is_answered_by_itself(index: Index) -> None:
    found = index.search(Query("SELECT id, title FROM posts ORDER BY created_at DESC LIMIT 1"))
    assert found.hits[0].path == "app/queries.py"


@pytest.mark.parametrize(
    "text",
    ["--wombat-mode", "table wombats", "SELECT * FROM wombats", "The file 'a' given as '--min-runs' is not there"],
)
def test_what_nothing_declares_pins_nothing(index: Index, text: str) -> None:
    found = index.search(Query(text))
    assert not found.hits or "pinned" not in found.hits[0].parts
    assert found.hits == () or found.hits[0].chance != pytest.approx(0.95)

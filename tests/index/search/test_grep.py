"""Every line with a text or a pattern, as a plain scan of the same files finds it."""

import os
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.options import EmbeddingOptions, IndexOptions, ScanOptions
from cqm.index.model.query import Answer, Matched, Query, SearchMode
from cqm.index.search.grep import grams
from cqm.index.search.grep.grams import GramTable
from cqm.index.search.grep.syntax import read_pattern

pytestmark = pytest.mark.processes

LONG_AGO = 1_700_000_000
PYTHON = '''\
"""A client."""


class Client:
    def fetch_page(self, url: str) -> str:
        """Fetch a page (once)."""
        return self.getUserNames(url)[0]


def other_fetch_page_size(task, Task):
    return "ctx.Bind(" + task + 'fetch_page'
'''
GO = "package flags\n\nfunc (c *Context) Bind(obj any) error {\n\treturn ctx.Bind(obj)\n}\n"
LONG_S, KELVIN = "\u017f", "\u212a"
"""Other cases of "s" and "k"."""
GERMAN = f"größe = 'naïve {KELVIN}elvin ta{LONG_S}{KELVIN}'\ndéjà_vu = 中文字\n"
FRENCH = "# Une déclaration bien écrite, déjà prête à être lue\nfetch_page = 'café'\n"
TEST = b"from client import Client\n\n\ndef test_fetch_page():\n    assert Client().fetch_page('x')\n"
FILES: dict[str, bytes] = {
    "src/client.py": PYTHON.encode(),
    "src/context.go": GO.encode(),
    "src/windows.py": b"first = 1\r\nfetch_page(first)\r\n\r\nlast = 2\r\n",
    "src/größe.py": GERMAN.encode(),
    "src/marked.py": b"\xef\xbb\xbffetch_page = 1\n",
    "src/wide.py": "fetch_page = '\u00e9'\n".encode("utf-16"),
    "src/latin.py": FRENCH.encode("cp1252"),
    "src/minified.js": b"var " + b",".join(b"fetchPage%d=ctx.Bind(%d)" % (n, n) for n in range(300)) + b";",
    "src/settings.py": b"NAME = 'x'\nGITHUB = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'\nfetch_page = 3\n",
    "tests/test_client.py": TEST,
    "docs/guide.md": b"# Guide\n\nCall `fetch_page`.\n\n## More\n\nSee ctx.Bind(obj) and `Client`.\n",
    "data.json": b'{"name": "fetch_page\\nand more", "list": [1, 2]}\n',
    "empty.txt": b"",
    "blank.txt": b"\n\n\n",
    "no_end.txt": b"alpha\nfetch_page",
    "image.bin": b"\0\1fetch_page\n",
}
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def written(root: Path, path: str, data: bytes) -> None:
    """Write a file that nobody has written to for long."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
    os.utime(root / path, (LONG_AGO, LONG_AGO))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index of FILES, which nothing changes."""
    root = tmp_path_factory.mktemp("tree").resolve()
    for path, data in FILES.items():
        written(root, path, data)
    options = IndexOptions(
        home=tmp_path_factory.mktemp("home"),
        embedding=EmbeddingOptions(provider="none"),
        scan=ScanOptions(include_generated="all"),
    )
    with Index.open(root, options) as opened:
        opened.update()
        # A file written less than two seconds before it is read may be written again with the same times, and is read
        # anew by each update and each search.
        newest = max((root / path).stat().st_ctime for path in FILES)
        while time.time() < newest + 2.1:
            opened.update()
        opened.update()
        yield opened


def find(index: Index, text: str, mode: SearchMode = SearchMode.EXACT, **query: object) -> Answer:
    return index.search(Query(text, mode=mode, **{"limit": 100, **query}))


def places(answer: Answer) -> list[tuple[str, int]]:
    return [(hit.path, line) for hit in answer.hits for line in dict.fromkeys(line for line, _, _ in hit.matches)]


def scanned(text: str, pattern: re.Pattern[str]) -> list[int]:
    """The numbers of the matching lines of a text, by a plain scan."""
    lines = text.replace("\r\n", "\n").split("\n")
    lines = lines if lines[-1] else lines[:-1]
    return [number for number, line in enumerate(lines, start=1) if pattern.search(line)]


def by_scan(pattern: re.Pattern[str]) -> set[tuple[str, int]]:
    texts = {path: TEXTS.get(path) or data.decode("utf-8-sig") for path, data in FILES.items() if path != "image.bin"}
    return {(path, number) for path, text in texts.items() for number in scanned(text, pattern)}


TEXTS = {
    "src/wide.py": FILES["src/wide.py"].decode("utf-16"),
    "src/latin.py": FILES["src/latin.py"].decode("cp1252"),
    "src/settings.py": FILES["src/settings.py"].decode().replace(SECRET, "*" * len(SECRET)),
}
"""What the index reads of files that are not plain UTF-8, or have a secret."""

LITERALS = [
    *(
        "fetch_page",
        "fetchPage12",
        "ctx.Bind(",
        "getUserNames",
        "UserN",
        "tx.Bi",
        "t",
        "e\\",
        "))",
        "  ",
        "\t",
        "]",
        "\\n",
    ),
    *(
        "größe",
        "öß",
        f"{KELVIN}elvin",
        f"ta{LONG_S}",
        "中文",
        "naïve",
        "café",
        "return ctx.Bind(obj)",
        '"""',
        "nowhere",
    ),
]


@pytest.mark.parametrize("literal", LITERALS)
def test_a_text_is_found_wherever_a_plain_scan_finds_it(index: Index, literal: str) -> None:
    answer = find(index, literal)
    expected = by_scan(re.compile(re.escape(literal)))
    assert set(places(answer)) == expected
    assert answer.matched
    assert (answer.matched.lines, answer.matched.files) == (len(expected), len({path for path, _ in expected}))
    assert answer.matched.is_complete


PIECES = some.one_of(
    some.sampled_from(["fetch", "_page", "ctx", r"\.", "Bind", r"\(", "get", "User", "k", "s", "ß", "ta", "task", " "]),
    some.sampled_from(
        [".", r"\w+", r"\d*", r"\s", "[Cc]", "[^(]", "(?:fetch|get)", "(Bind|task)?", "e?", "(?:ta){1,2}"]
    ),
    some.sampled_from([r"\b", r"\B", r"[\W_]", r"[^\W\d]", "größe", "[^-ß]", "é"]),
    some.sampled_from(["^", "$", r"\b", "|", ".*", "a{2,}", "(?:x|)", "[a-z]+"]),
)
UNBOUNDED = re.compile(r"\.\*|\\w\+|\\d\*|\[a-z\]\+")
"""Each takes Python's engine, which scans beside ours, once more the length of a line: five never came to the end of a
minified line of 8,400 characters."""
PATTERNS = some.builds(
    lambda flag, pieces: flag + "".join(pieces),
    some.sampled_from(["", "", "(?i)"]),
    some.lists(PIECES, min_size=1, max_size=7).filter(lambda pieces: len(UNBOUNDED.findall("".join(pieces))) <= 2),
)


@settings(max_examples=settings.default.max_examples // 2)
@given(pattern=PATTERNS)
@example("(?i)task")
@example("(?i)ta(?:sk|x)")
@example("x*")
@example("^$")
@example(r"\)$")
@example(r"\b[Cc]")
@example(r"größe|(?i)KELVIN")
@example(r"\bgröße\b")
@example(r"(?i)\bGRÖSSE\b|\bDÉJÀ_VU\b")
@example(r"\bgr\b|\bvu")
@example(r"fr\b|en\B")
@example(r"\b\bdéjà[\W_]")
@example(r"[^\W\d]+ße\b")
@example(r"\b^")
@example(r"\b|")
@example(r"\B")
@example(r"\bx*^\b[Gg]")
@example(r"$\b")
@example(r"ße\b$\b")
def test_a_pattern_matches_the_lines_that_a_plain_scan_with_another_engine_matches(index: Index, pattern: str) -> None:
    with warnings.catch_warnings():
        # Python wants flags in front.
        warnings.simplefilter("ignore")
        asked = pattern if pattern.startswith("(?i)") else pattern.replace("(?i)KELVIN", "(?i:KELVIN)")
        # In an empty line Python finds no "\\B"; RE2 and ripgrep do.
        plain = re.compile(asked.replace(r"\B", r"(?:\B|^$)"))
    answer = find(index, pattern, SearchMode.REGEX)
    found = places(answer)
    while answer.next_cursor:
        answer = find(index, pattern, SearchMode.REGEX, cursor=answer.next_cursor)
        found += places(answer)
    assert len(set(found)) == len(found)
    assert set(found) == by_scan(plain)
    assert answer.matched
    assert answer.matched.lines == len(found)


WORDS = some.lists(some.sampled_from(["fetch", "Page", "_", "task", "k", "ß", "ta", " ", "(", "s", KELVIN]), max_size=8)


@given(pattern=PATTERNS, text=WORDS.map("".join))
def test_a_file_that_matches_is_never_ruled_out_by_its_trigrams(pattern: str, text: str) -> None:
    table, read = GramTable(), read_pattern(pattern)
    table.put("a", (1, 1, 1), text.encode())
    without = table.without(read.clauses, ignores_case=read.ignores_case)
    assert not (re.search(pattern, text) and without)


def test_trigrams_rule_files_out() -> None:
    table = GramTable()
    for number in range(300):
        table.put(f"{number}", (1, 1, 1), f"def gather_{number:03}(value): return value".encode())
    for pattern in ("gather_017", "(?:def|fn) gather_017", "(?i)GATHER_017", "gather_017|[Gg]ather_017[(]"):
        read = read_pattern(pattern)
        assert table.without(read.clauses, ignores_case=read.ignores_case).keys() >= {"18", "123"}, pattern


def test_trigrams_of_very_many_files_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of 2 KB was kept for every file: gigabytes for a million."""
    monkeypatch.setattr(grams, "_MOST_ROWS", 300)
    table, stamp = GramTable(), (1, 1, 1)
    for number in range(500):
        table.put(f"{number}", stamp, b"def gather(value): return value")
    assert [number for number in range(500) if table.has(f"{number}", stamp)] == [*range(300)]
    absent = read_pattern("absent")
    assert len(table.without(absent.clauses, ignores_case=False)) == 300
    table.put("7", (2, 2, 2), b"an absent one")
    assert table.has("7", (2, 2, 2))
    table.keep_only([f"{number}" for number in range(200)])
    table.put("400", stamp, b"")
    assert table.has("400", stamp)
    assert len(table.without(absent.clauses, ignores_case=False)) == 200


def test_a_line_comes_with_its_symbol_its_matches_and_the_lines_around(index: Index) -> None:
    answer = find(index, "getUserNames(url)")
    (hit,) = answer.hits
    assert (hit.path, hit.start_line, hit.end_line, hit.matches) == ("src/client.py", 5, 9, ((7, 20, 37),))
    assert (hit.symbol, hit.kind, hit.line) == ("Client.fetch_page", "method", 5)
    assert hit.signature == "def fetch_page(self, url: str) -> str"
    assert hit.text == "\n".join(PYTHON.split("\n")[4:9])
    (bare,) = find(index, "getUserNames(url)", around=0).hits
    assert (bare.start_line, bare.text) == (7, "        return self.getUserNames(url)[0]")


def test_sources_come_before_tests_and_documents_and_pages_follow_each_other(index: Index) -> None:
    whole = find(index, "fetch_page")
    assert [path for path, _ in places(whole)][-2:] == ["tests/test_client.py", "tests/test_client.py"]
    found, cursor = [], ""
    while True:
        page = find(index, "fetch_page", limit=3, cursor=cursor)
        assert page.matched == whole.matched
        found += places(page)
        cursor = page.next_cursor
        if not cursor:
            break
    assert found == places(whole)


def test_filters_stand_in_front_of_the_text_or_beside_it(index: Index) -> None:
    assert {path for path, _ in places(find(index, "lang:golang ctx.Bind("))} == {"src/context.go"}
    assert {path for path, _ in places(find(index, "path:docs/ ctx.Bind("))} == {"docs/guide.md"}
    assert not find(index, "-path:src lang:python fetch_page", include=("src/**",)).hits
    assert {hit.symbol for hit in find(index, "fetch_page", kinds=("method",)).hits} == {"Client.fetch_page"}
    assert {path for path, _ in places(find(index, "fetch_page", exclude=("src/**", "*.txt")))} == {
        *("tests/test_client.py", "docs/guide.md", "data.json")
    }
    # What follows nothing, or is no filter, is text.
    assert find(index, "lang:go").matched == find(index, "colour:red x").matched
    with pytest.raises(QueryError, match=r"cobol.*one that the index has"):
        find(index, "x", languages=("cobol",))


def test_a_text_of_several_lines_is_found_and_a_pattern_has_them_where_it_asks_for_a_line_end(index: Index) -> None:
    pasted = "func (c *Context) Bind(obj any) error {\r\n\treturn ctx.Bind(obj)\r\n"
    (hit,) = find(index, pasted, around=0).hits
    assert (hit.path, hit.start_line, hit.end_line) == ("src/context.go", 3, 4)
    (hit,) = find(index, r"first = \d\nfetch_page", SearchMode.REGEX, around=0).hits
    assert (hit.path, hit.start_line, hit.end_line) == ("src/windows.py", 1, 2)
    assert not find(index, r"first = \d\s+fetch_page", SearchMode.REGEX).hits


def test_a_class_with_a_line_end_matched_nothing(index: Index) -> None:
    answer = index.search(Query(r"Client:[\n]    def", mode=SearchMode.REGEX))
    assert [hit.path for hit in answer.hits] == ["src/client.py"]


def test_a_class_without_line_ends_made_returns_of_windows_part_of_a_line(index: Index) -> None:
    answer = index.search(Query(r"^fetch_page[^\r\n]*\)$", mode=SearchMode.REGEX))
    assert [hit.path for hit in answer.hits] == ["src/windows.py"]


@pytest.mark.parametrize("pattern", [r"ct\QxX\E?\.Bind\(", r"ctx\Q.BindX\E\Q\E*\(", r"ctx.BindX\Q\E?\("])
def test_of_a_quotation_only_the_last_character_is_repeated(index: Index, pattern: str) -> None:
    """Files were ruled out that lack the whole quotation, or the character before an empty one."""
    find(index, "ctx", SearchMode.REGEX)
    assert set(places(find(index, pattern, SearchMode.REGEX))) == by_scan(re.compile(r"ctx\.Bind\("))


def test_of_a_long_line_the_part_with_the_match_is_shown(index: Index) -> None:
    (hit,) = find(index, "fetchPage250=").hits
    ((line, start, end),) = hit.matches
    assert line == 1
    assert hit.text[start:end] == "fetchPage250="
    assert len(hit.text) <= 400


def test_a_redacted_secret_is_neither_found_nor_shown(index: Index) -> None:
    assert not find(index, SECRET).hits
    (hit,) = find(index, "GITHUB =").hits
    assert SECRET not in hit.text


INVALID = {
    "(": "missing",
    "a(?=b)": "invalid perl operator",
    r"(a)\1": "invalid escape",
    "a**": "bad repetition",
    r"\C": "invalid escape",
    "a\\": "trailing",
    "[z-a]": "invalid character class range",
    "(" * 200 + ")" * 200: "nested too deep",
    r"(?:\w{100}){100}": "too large|repetition size",
    "a" * 5_000: "expected at most 4,000",
    "": "empty",
}


@pytest.mark.parametrize("pattern", INVALID)
def test_a_pattern_that_is_not_valid_is_refused_with_the_reason(index: Index, pattern: str) -> None:
    with pytest.raises(QueryError, match=INVALID[pattern]):
        find(index, pattern, SearchMode.REGEX)


@pytest.mark.parametrize(
    ("text", "query"), [("", {}), ("\n", {}), ("", {"like": "src/client.py:3"}), ("x", {"around": 21})]
)
def test_a_query_without_a_text_to_find_is_refused(index: Index, text: str, query: dict[str, object]) -> None:
    with pytest.raises(QueryError):
        find(index, text, **query)


@pytest.fixture
def changing(tmp_path: Path, options: IndexOptions) -> Iterator[tuple[Index, Path]]:
    """An index of a folder that a test may change."""
    root = (tmp_path / "changing").resolve()
    written(root, "src/one.py", b"alpha = 1\n")
    written(root, "src/two.py", b"beta = 1\n")
    with Index.open(root, options) as opened:
        opened.update()
        yield opened, root


def test_files_that_changed_since_they_were_indexed_are_searched_as_they_are(changing: tuple[Index, Path]) -> None:
    index, root = changing
    assert [hit.path for hit in find(index, "alpha").hits] == ["src/one.py"]
    (root / "src" / "two.py").write_text("beta = 1\nalphabet = 2\n")
    (root / "src" / "one.py").unlink()
    answer = find(index, "alpha")
    assert places(answer) == [("src/two.py", 2)]
    assert answer.matched
    assert answer.matched.is_complete


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need a right on Windows")
def test_a_file_replaced_by_a_link_out_of_the_folder_is_not_read(changing: tuple[Index, Path], tmp_path: Path) -> None:
    index, root = changing
    (tmp_path / "outside.py").write_text("alpha = 'outside'\n")
    (root / "src" / "one.py").unlink()
    (root / "src" / "one.py").symlink_to(tmp_path / "outside.py")
    assert not find(index, "alpha").hits
    (root / "src" / "two.py").unlink()
    (root / "src" / "one.py").unlink()
    (root / "src").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "one.py").write_text("alpha = 'outside'\n")
    (root / "src").symlink_to(tmp_path / "elsewhere")
    assert not find(index, "alpha").hits


def test_a_kind_costs_no_more_the_more_lines_of_a_file_match(changing: tuple[Index, Path]) -> None:
    """Each match looked at all symbols of its file, and was compared with all others: 2 s for these."""
    index, root = changing
    body = "".join(f"    total += {number}\n" for number in range(10))
    written(root, "src/many.py", "".join(f"def f{n}(total):\n{body}value_{n} = 1\n" for n in range(1_000)).encode())
    index.update()
    find(index, "total", limit=1)
    began = time.process_time()
    answer = find(index, "total", limit=1, kinds=("function",))
    assert time.process_time() - began < 0.5  # seconds; it takes a twentieth of one
    assert answer.matched
    assert (answer.matched.lines, answer.matched.files) == (11_000, 1)
    assert find(index, "value_", limit=1, kinds=("function",)).matched == Matched(0, 0, 0, 3, 0, is_complete=True)


def test_counting_ends_somewhere_and_says_at_least(changing: tuple[Index, Path]) -> None:
    index, root = changing
    (root / "many.txt").write_bytes(b"a\n" * 150_000)
    index.update()
    answer = find(index, "a", limit=1)
    assert answer.matched
    assert not answer.matched.is_complete
    assert answer.matched.lines >= 100_000
    assert "ended" in answer.degraded


@pytest.mark.timeout(60)
def test_a_pattern_made_to_hang_ends(changing: tuple[Index, Path]) -> None:
    index, root = changing
    (root / "line.txt").write_bytes(b"a" * 900_000 + b"!\n")
    index.update()
    for pattern in ("(a+)+$", "(a|aa)+b", "(.*)(.*)(.*)(.*)x", "(?:a?){200}a{200}$", "a" * 50 + "[^b]{900}c"):
        assert find(index, pattern, SearchMode.REGEX, limit=1).mode is SearchMode.REGEX

"""The page of `cqm preview --html`, read as a browser reads it."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

VOID = {"meta", "col", "br"}


class Page(HTMLParser):
    """A page as its elements, with the text of every cell of source, and of everything else.

    Attributes:
        elements: names with their attributes.
        open: names of the elements that are not closed.
        rows: the cells of each row, as classes and text without marks.
        marks: the numbers of chunks within lines.
        text: outside of style sheets.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.rows: list[list[tuple[str, str]]] = []
        self.marks: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.elements.append((tag, known))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append((known.get("class", ""), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.text += data
        if self.open[-1:] == ["b"] and self.elements[-1][1].get("class") == "mark":
            self.marks.append(data)
        elif "td" in self.open:
            classes, before = self.rows[-1][-1]
            self.rows[-1][-1] = (classes, before + data)

    def source(self, column: int = 0) -> list[str]:
        """The lines of the source in a column."""
        numbered = [row for row in self.rows if row[0][1]]
        assert [int(row[0][1]) for row in numbered] == list(range(1, len(numbered) + 1))
        return [row[1 + column][1] for row in numbered]

    def labels(self) -> list[dict[str, str]]:
        return [known for _, known in self.elements if known.get("class", "").startswith("label ")]


def raw_page(cqm: "Cqm", file: str, *arguments: str) -> str:
    target = cqm.project.parent / "preview.html"
    done = cqm.run("preview", file, "--html", str(target), *arguments)
    assert done.returncode == 0, done.stderr
    return target.read_bytes().decode("utf-8")


def page_of(cqm: "Cqm", file: str, *arguments: str) -> Page:
    page = Page(raw_page(cqm, file, *arguments))
    assert page.open == []
    return page


@pytest.mark.row("B10")
def test_the_page_shows_the_source_with_every_chunk_labelled(cqm: "Cqm") -> None:
    options = ("--option", "max_tokens=64", "--option", "min_tokens=0")
    page = page_of(cqm, "src/parser.py", *options)
    chunks = cqm.json("preview", "src/parser.py", *options)["chunks"]
    assert page.source() == cqm.text("src/parser.py").splitlines()
    assert [known["id"] for known in page.labels()] == [f"c0-{n}" for n in range(1, len(chunks) + 1)]
    for chunk in chunks:
        assert chunk["id"] in page.text
        assert f"{chunk['tokens']} tokens" in page.text
        assert chunk["symbol"] in page.text
    links = {known["href"] for tag, known in page.elements if tag == "a"}
    assert {f"#c0-{n}" for n in range(1, len(chunks) + 1)} <= links
    assert links <= {f"#{known['id']}" for _, known in page.elements if "id" in known}


def test_each_line_has_the_tint_of_its_chunk(cqm: "Cqm") -> None:
    options = ("--option", "max_tokens=64", "--option", "min_tokens=0")
    page = page_of(cqm, "src/parser.py", *options)
    numbered = {int(row[0][1]): row[1][0] for row in page.rows if row[0][1]}
    for number, chunk in enumerate(cqm.json("preview", "src/parser.py", *options)["chunks"]):
        for line in range(chunk["start_line"], chunk["end_line"] + 1):
            assert numbered[line].split() == ["c", f"t{number % 6}"]


def test_the_page_needs_nothing_from_elsewhere_and_no_script(cqm: "Cqm") -> None:
    raw = raw_page(cqm, "docs/guide.md", "--compare", "hierarchical")
    page = Page(raw)
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not {name for _, known in page.elements for name in known if name.startswith("on") or name == "src"}
    assert all(known["href"].startswith("#") for _, known in page.elements if "href" in known)
    assert "url(" not in raw
    assert "@import" not in raw
    assert "http" not in raw
    assert "prefers-color-scheme: dark" in raw


def test_hostile_text_stays_text(cqm: "Cqm") -> None:
    evil = "</td></table></script><script>alert(1)</script> & &lt; ' \" <b onclick='x'> \x1b[31m \u202e \x9b"
    name = "a<img src=x>'\".py"
    (cqm.project / name).write_text(f"class A:\n    x = '''{evil}'''\n\n\nB = 1\n", encoding="utf-8")
    for arguments in ([], ["--strategy", "fixed"], ["--compare", "sentence"]):
        raw = raw_page(cqm, name, *arguments)
        page = Page(raw)
        assert not {tag for tag, _ in page.elements} & {"script", "img"}
        assert not [known for _, known in page.elements if "onclick" in known]
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", raw)
        assert "</td></table></script><script>alert(1)</script> & &lt; ' \" <b onclick='x'> ␛[31m \\u202e" in page.text


def test_text_that_is_none_can_be_shown(cqm: "Cqm") -> None:
    (cqm.project / "crlf.txt").write_bytes(b"eins\r\nzwei\r\n\r\ndrei\rvier\r\n")
    assert page_of(cqm, "crlf.txt").source() == ["eins", "zwei", "", "drei␍vier"]
    (cqm.project / "surrogate.json").write_text('{"key": "\\ud800"}')
    assert page_of(cqm, "surrogate.json").source() == ['{"key": "\\ud800"}']
    (cqm.project / "empty.txt").write_text("")
    assert page_of(cqm, "empty.txt").labels() == []


def test_what_two_chunks_share_is_hatched_and_where_one_begins_within_a_line_is_marked(cqm: "Cqm") -> None:
    text = "".join(f"Sentence number {n} is one of very many in this line. " for n in range(60))
    (cqm.project / "line.txt").write_text(f"{text}\n")
    options = ("--strategy", "fixed", "--option", "size_tokens=256", "--option", "overlap_tokens=40")
    page = page_of(cqm, "line.txt", *options)
    chunks = cqm.json("preview", "line.txt", *options)["chunks"]
    spans = [known["class"] for tag, known in page.elements if tag == "span" and "c t" in known.get("class", "")]
    assert len(chunks) > 2
    assert sum(" r " in classes for classes in spans) == len(chunks) - 1
    assert page.marks == [str(number) for number in range(1, len(chunks) + 1)]
    assert page.source()[0].split() == text.split()


@pytest.mark.row("B1")
def test_strategies_stand_side_by_side_over_the_same_lines(cqm: "Cqm") -> None:
    body = "Some words are here. " * 60
    (cqm.project / "tree.md").write_text(f"# Top\n\n{body}\n\n## Below\n\n{body}\n")
    arguments = ("--compare", "hierarchical:child_tokens=128", "--compare", "fixed:size_tokens=128")
    page = page_of(cqm, "tree.md", *arguments)
    found = cqm.json("preview", "tree.md", *arguments)
    for column, made in enumerate([found, *found["compare"]]):
        labels = [known["id"] for known in page.labels() if known["id"].startswith(f"c{column}-")]
        assert labels == [f"c{column}-{n}" for n in range(1, len(made["chunks"]) + 1)]
        assert f"{made['strategy']}" in page.text
    assert all(len(row) == 4 for row in page.rows)
    assert page.source(0)[0] == page.source(1)[0] == "# Top"
    assert any(" d1" in known["class"] for known in page.labels())


def test_the_page_tells_options_reason_warnings_and_exact_tokens(cqm: "Cqm") -> None:
    (cqm.project / "broken.py").write_text("def f(:\n  ((((\n" * 5)
    page = page_of(cqm, "broken.py", "--recommend", "--tokens", "gpt-4o")
    (warning, *_) = cqm.json("preview", "broken.py")["warnings"]
    assert warning in page.text
    assert "max_tokens=512" in page.text
    assert "code is cut by symbol" in page.text
    assert "tokens of gpt-4o" in page.text


def test_words_of_code_have_colours(cqm: "Cqm") -> None:
    raw = raw_page(cqm, "src/greeting.py")
    assert "<i class='k'>def</i>" in raw
    assert "<i class='f'>greet</i>" in raw
    assert "<i class='s'>f&quot;hello {</i>name" in raw


def test_of_a_very_large_file_the_first_part_is_shown_with_a_note(cqm: "Cqm") -> None:
    (cqm.project / "large.txt").write_text("A line of very plain text, as there are many more.\n" * 12_000)
    page = page_of(
        cqm, "large.txt", "--strategy", "fixed", "--compare", "fixed:size_tokens=1024", "--compare", "sentence"
    )
    assert "Only the first 500,000 of 612,000 characters are shown" in page.text
    assert len(page.source()) == -(-500_000 // 51)
    blocks = [known for _, known in page.elements if known.get("class") == "block"]
    assert len(blocks) > 40


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2.2 between two colours, as "#rrggbb"."""
    lights = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_the_contrast_that_wcag_asks_for(cqm: "Cqm", scheme: str) -> None:
    style = raw_page(cqm, "docs/guide.md").partition("<style>")[2].partition("</style>")[0]
    colours: dict[str, str] = {}
    for block in re.findall(r":root \{([^{}]*)\}", style):
        found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        if scheme == "dark" or not colours.keys() & found.keys():
            colours |= found
    pairs = [("text", "page"), ("text", "card"), ("dim", "page"), ("dim", "card"), ("text", "track")]
    pairs += [("note", "note-bg")]
    for n in range(6):
        pairs += [("text", f"b{n}"), (f"e{n}", f"b{n}"), ("on", f"e{n}"), (f"e{n}", "card")]
        pairs += [(word, f"b{n}") for word in "ksfnc"]
    assert {
        pair: round(ratio, 2) for pair in pairs if (ratio := contrast(*(colours[name] for name in pair))) < 4.5
    } == {}

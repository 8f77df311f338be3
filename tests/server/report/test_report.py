"""`cqm report`: how a folder is chunked, as text, JSON and a page."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.row("D10")

SENTENCE = "This sentence is here so that the text of it has the length of a chunk. "


class Page(HTMLParser):
    """All that a browser would make of a page: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(cqm: "Cqm") -> Page:
    target = cqm.project.parent / "report.html"
    done = cqm.run("report", "--html", str(target))
    assert done.returncode == 0, done.stderr
    return Page(target.read_text(encoding="utf-8"))


def test_documents_chunks_and_their_sizes_are_counted(cqm: "Cqm") -> None:
    (cqm.project / "long.md").write_text("".join(f"# Part {n}\n\n{SENTENCE * 20}\n\n" for n in range(10)))
    found = cqm.json("report")
    previews = [cqm.json("preview", path)["chunks"] for path in _files(cqm)]
    sizes = sorted(chunk["tokens"] for chunks in previews for chunk in chunks)
    assert found["documents"] == len(previews) == 4
    assert found["chunks"] == len(sizes)
    assert found["tokens"] == sum(sizes)
    assert found["characters"] == sum(len(chunk["text"]) for chunks in previews for chunk in chunks)
    assert found["bytes"] == sum((cqm.project / path).stat().st_size for path in _files(cqm))
    assert found["mean_tokens"] == pytest.approx(sum(sizes) / len(sizes), abs=0.05)
    assert found["median_tokens"] == sizes[(len(sizes) - 1) // 2]
    assert found["largest_tokens"] == sizes[-1]
    assert found["tiny_share"] == pytest.approx(sum(size < 32 for size in sizes) / len(sizes), abs=1e-4)
    assert found["histogram"] == {
        "0-128": sum(size <= 128 for size in sizes),
        "128-256": sum(128 < size <= 256 for size in sizes),
        "256-512": sum(256 < size <= 512 for size in sizes),
        "512+": sum(size > 512 for size in sizes),
    }
    assert sum(found["sizes"].values()) == len(sizes)


def test_chunks_are_counted_by_type_and_language_and_strategy(cqm: "Cqm") -> None:
    (cqm.project / "more.txt").write_text(SENTENCE, encoding="utf-8")
    by = cqm.json("report")["by"]
    assert by["source_type"] == {"code": 2, "documentation": 2}
    assert by["content_type"] == by["language"] == {"markdown": 1, "python": 2, "text": 1}
    assert list(by["content_type"]) == ["python", "markdown", "text"]
    assert by["natural_language"] == {"en": 1, "ja": 1}
    assert by["strategy"]["code"] == 2
    assert sum(by["kind"].values()) == 4


@pytest.mark.row("D9")
def test_what_is_left_out_is_counted_by_reason(cqm: "Cqm") -> None:
    (cqm.project / "image.dat").write_bytes(b"\x00\x01\x02")
    (cqm.project / "yarn.lock").write_text("lock\n")
    (cqm.project / "big.txt").write_text(SENTENCE * 100)
    found = cqm.json("report", "--set", "scan.max_file_bytes=5000")
    assert found["left_out"] == {"binary": 1, "lock file": 1, "too large": 1}
    assert found["documents"] == 3


@pytest.mark.row("D9")
def test_the_gates_say_what_they_found_and_where(cqm: "Cqm") -> None:
    (cqm.project / "tiny.py").write_text("x = 1\n")
    (cqm.project / "rules.txt").write_text("-----\n")
    (cqm.project / "large.md").write_text("# A\n\n```\n" + "code code code\n" * 200 + "```\n")
    (cqm.project / "latin.txt").write_bytes(
        "Une idée très générale\nde la façon dont cela marche à présent\n".encode("cp1252")
    )
    (cqm.project / "noise.txt").write_bytes(b"\xff\xfe\xfd\x81\x82")
    found = cqm.json("report")
    gates = {(finding["gate"], *finding["examples"]): finding["count"] for finding in found["findings"]}
    assert gates == {
        ("Q1", "rules.txt:1", "tiny.py:1"): 2,
        ("Q2", "large.md:1"): 1,
        ("Q4", "rules.txt:1"): 1,
        ("Q5", "latin.txt"): 1,
        ("Q5", "noise.txt"): 1,
    }
    assert found["encodings"] == {"utf-8": 6, "cp1252": 1}
    text = cqm.run("report").stdout
    assert "Q4 note: 1 nothing but symbols" in text
    assert "not UTF-8, decoded, such as latin.txt" in text


@pytest.mark.row("D9")
def test_what_is_nothing_but_symbols_is_left_out_of_the_index(cqm: "Cqm") -> None:
    before = cqm.json("index")["chunks_written"]
    (cqm.project / "rules.txt").write_text("-----\n")
    (cqm.project / "more.py").write_text("x = 1\n")
    after = cqm.json("index")
    assert (before, after["added"], after["chunks_written"]) == (3, 2, 1)


def test_warnings_that_differ_in_numbers_are_one_kind(cqm: "Cqm") -> None:
    for count in (300, 400):
        (cqm.project / f"large{count}.md").write_text(f"# A\n\n{'word ' * 9}\n\n```\n{'code code code' * count}\n```\n")
    (kind,) = cqm.json("report")["warnings"]
    assert kind["files"] == 2
    assert [example["path"] for example in kind["examples"]] == ["large300.md", "large400.md"]


def test_a_file_that_fails_is_named_and_is_the_exit_code(cqm: "Cqm") -> None:
    (cqm.project / "closed").mkdir(mode=0)
    if (cqm.project / "closed").stat().st_uid == 0:
        (cqm.project / "closed").rmdir()
        pytest.skip("the superuser may read everything")
    assert cqm.json("report", code=1)["failed"][0]["path"] == "closed"


def test_a_single_file_and_the_users_settings_count(cqm: "Cqm") -> None:
    (cqm.project / "long.md").write_text("".join(f"# Part {n}\n\n{SENTENCE * 20}\n\n" for n in range(10)))
    whole = cqm.json("report", "long.md")
    assert (whole["documents"], Path(whole["root"]).name) == (1, "long.md")
    (cqm.project / "cqm.yml").write_text("chunk: {max_tokens: 128, min_tokens: 64}\n")
    cut = cqm.json("report", "long.md")
    assert cut["chunks"] > whole["chunks"]
    assert cut["p95_tokens"] <= 128


def test_a_folder_without_chunks_has_a_report_too(cqm: "Cqm") -> None:
    (cqm.project / "empty").mkdir()
    found = cqm.json("report", "empty")
    assert (found["documents"], found["chunks"], found["mean_tokens"], found["mb_per_second"]) == (0, 0, 0.0, 0.0)
    target = cqm.project.parent / "empty.html"
    assert cqm.run("report", "empty", "--html", str(target)).returncode == 0
    assert "There are no chunks" in Page(target.read_text(encoding="utf-8")).text


def test_many_processes_report_what_one_does(cqm: "Cqm") -> None:
    for number in range(9):
        (cqm.project / f"large{number}.txt").write_text(f"Text {number}. {SENTENCE * 6500}\n")
    one, two = (cqm.json("report", "--set", f"index.workers={workers}") for workers in (1, 2))
    assert one["bytes"] > 4_000_000
    measured = {"seconds", "cpu_seconds", "mb_per_second", "slowest"}
    assert {key: one[key] for key in one.keys() - measured} == {key: two[key] for key in two.keys() - measured}


def test_the_page_needs_nothing_but_itself(cqm: "Cqm") -> None:
    page = page_of(cqm)
    tags = {tag for tag, _ in page.elements}
    assert "svg" in tags
    assert not tags & {"script", "link", "img", "iframe", "object", "embed"}
    addresses = ("src", "href", "xlink:href", "action", "data")
    assert not [name for _, attributes in page.elements for name in attributes if name in addresses or name[:2] == "on"]
    assert "url(" not in page.text
    assert "@import" not in page.text
    assert "prefers-color-scheme: dark" in page.text


def test_the_page_shows_what_the_report_counts(cqm: "Cqm") -> None:
    (cqm.project / "tiny.py").write_text("x = 1\n")
    found, page = cqm.json("report"), page_of(cqm)
    assert str(found["root"]) in page.text
    for name in ("documentation", "python", "Q1", "tiny.py:1", "utf-8"):
        assert name in page.text
    bars = [attributes for tag, attributes in page.elements if tag == "rect" and attributes.get("class") == "bar"]
    assert len(bars) >= len(found["by"]["content_type"]) + len(found["by"]["kind"])


def test_names_of_files_are_text_on_the_page(cqm: "Cqm") -> None:
    name = "<img src=x onerror=alert(1)>&amp;\x1b[31m.py"
    (cqm.project / name).write_text("x = 1\n")
    page = page_of(cqm)
    assert "<img src=x onerror=alert(1)>&amp;" in page.text
    assert "img" not in {tag for tag, _ in page.elements}
    assert "\x1b" not in page.text


def _files(cqm: "Cqm") -> list[str]:
    found = (path.relative_to(cqm.project).as_posix() for path in cqm.project.rglob("*.*") if path.is_file())
    return [path for path in found if not path.startswith(".git")]


@pytest.mark.skipif(sys.platform != "linux", reason="a limit that holds stands for a full disk")
def test_a_page_that_could_not_be_written_was_left_empty(cqm: "Cqm") -> None:
    import resource

    target = cqm.project.parent / "report.html"
    target.write_text("the page of yesterday")
    assert cqm.run("index").returncode == 0
    done = subprocess.run(
        [cqm.program, "report", "--html", str(target)],
        cwd=cqm.project,
        # Where files are limited, Python leaves a module's compiled form cut short, and nobody can load it any more.
        env=cqm.environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)),
    )
    assert done.returncode == 1
    assert target.read_text() == "the page of yesterday"
    assert [it.name for it in target.parent.glob(".report*")] == []

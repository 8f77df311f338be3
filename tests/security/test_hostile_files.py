"""Files that attack their parser: each alone fails, if any does; the index holds the others as if it were not there."""

import json
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_files import hostile_files, pdf_bomb
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent
from tiers import thinned

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document

CQM = shutil.which("cqm", path=sysconfig.get_path("scripts")) or "cqm"
Deliver = Callable[[Path, str], Any]
SAMPLE = 24
"""Of the files that `tests/bench/hostile.py` indexes, 2,300 of them."""
LATE = (
    *((f"a.{suffix}", "/*中\n") for suffix in ("js", "ts", "tsx", "swift", "java", "c")),
    ("a.php", "<?php /*中\n"),
    *((f"a.{suffix}", "/*中\n") for suffix in ("cpp", "css")),
    ("a.scala", "/*\u2028\n"),
    *((f"a.{suffix}", "/*中\n") for suffix in ("lua", "m")),
    ("a.js", "/*\ud800\n"),
)
"""Comments that nobody closes, by the file whose grammar takes ever longer for them."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def hostile(stranger: Path) -> Path:
    for file in hostile_files(SAMPLE):
        path = stranger / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    return stranger


def test_hostile_files_stop_no_other_file(hostile: Path, victim_of: Deliver) -> None:
    victim = victim_of(hostile, "cp -r")
    done = victim.run("index", "--json", CQM_EMBEDDING_PROVIDER="none", CQM_INDEX_SHARED="0")
    summary = json.loads(done.stdout)
    named = {problem["path"] for problem in summary["failed"]}
    assert summary["added"] + len(named) + sum(summary["skipped"].values()) == SAMPLE + 1
    assert all(problem["reason"].startswith("not parsed: ") for problem in summary["failed"])
    found = victim.json("search", "innocent_marker", "--no-update", CQM_EMBEDDING_PROVIDER="none", CQM_INDEX_SHARED="0")
    assert found["results"][0]["path"] == "innocent.py"


def test_h6_a_pdf_bomb_fails_alone_by_name(stranger: Path, victim_of: Deliver) -> None:
    # Its ten million operators take 25 s of processor time; a file of this size may take 3.
    (stranger / "bomb.pdf").write_bytes(pdf_bomb(b"(a) Tj "))
    victim = victim_of(stranger, "cp -r")
    summary = victim.json("index", code=1, CQM_EMBEDDING_PROVIDER="none", CQM_INDEX_SHARED="0")
    assert summary["added"] == 1
    assert [it["path"] for it in summary["failed"]] == ["bomb.pdf"]
    preview = victim.run("preview", "bomb.pdf")
    assert preview.returncode == 1
    assert "bomb.pdf" in preview.stderr or "could not be parsed" in preview.stderr


def test_h6_a_pdf_of_many_operators_without_text_is_passed_over(stranger: Path, victim_of: Deliver) -> None:
    # A fifth of the operators that fit into the file's 3 s: a busy machine may need twice as long for them.
    (stranger / "moves.pdf").write_bytes(pdf_bomb(b"1 0 0 1 0 0 cm ", 2_000_000))
    victim = victim_of(stranger, "cp -r")
    summary = victim.json("index", CQM_EMBEDDING_PROVIDER="none", CQM_INDEX_SHARED="0")
    assert (summary["added"], summary["failed"]) == (1, [])


@pytest.mark.soak
def test_h4_a_late_parse_never_ends_within_a_character() -> None:
    """Each takes the whole second that a parse may take: every third is tried, and with `tests/run --soak` all."""
    for name, opens in thinned(LATE):
        text = opens * 12_000
        # Before, the grammar crashed: the test's own process would die here.
        report = chunk(Document(name, text))
        assert report.chunks[0].start == 0, name
        assert report.chunks[-1].end in {len(text), len(text.rstrip("\n"))}, name


@pytest.mark.parametrize(("name", "text"), [("a.css", "a\n" * 60_000), ("a.ts", "`\n" * 60_000)])
def test_m4_a_long_symbol_is_cut_within_the_time_that_a_file_may_take(
    stranger: Path, victim_of: Deliver, name: str, text: str
) -> None:
    (stranger / name).write_text(text)
    victim = victim_of(stranger, "cp -r")
    summary = victim.json("index", CQM_EMBEDDING_PROVIDER="none", CQM_INDEX_SHARED="0", CQM_SCAN_INCLUDE_GENERATED="1")
    assert (summary["added"], summary["failed"]) == (2, [])


@pytest.mark.anyio
async def test_a_file_that_kills_its_worker_is_an_error_over_mcp_and_the_server_lives(
    stranger: Path, victim_of: Deliver
) -> None:
    (stranger / "bomb.pdf").write_bytes(pdf_bomb(b"(a) Tj "))
    victim = victim_of(stranger, "cp -r")
    server = StdioServerParameters(command=CQM, args=["serve"], env=victim.environment, cwd=victim.project)
    async with Client(server) as client:
        bomb = await client.call_tool("chunk_preview", {"path": "bomb.pdf"})
        innocent = await client.call_tool("chunk_preview", {"path": "innocent.py"})
    [told], [shown] = bomb.content, innocent.content
    assert bomb.is_error
    assert isinstance(told, TextContent)
    assert "could not be parsed" in told.text
    assert isinstance(shown, TextContent)
    assert "innocent_marker" in shown.text

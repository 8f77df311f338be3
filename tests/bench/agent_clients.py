"""Agents' own programs call CQM: each is installed from npm, set up by `cqm setup`, and run without a person.

    python tests/bench/agent_clients.py --tools FOLDER [--only codex ...] [--show]

No model is asked: a scripted one on loopback speaks the client's protocol (of Anthropic, OpenAI or Gemini). It asks for
CQM's `search` once, if the client offers it or finds it for the model, and ends when it is given the reply. The table
tells how many of CQM's tools the model was told, how many of `search` and `usages` were in the first request with any
tools, whether the call was made, and whether the reply with the right place came back, and in how many runs: some start
their servers while they ask, so that there are up to three.
FOLDER keeps what npm installs, one folder a client, so that a second run needs no registry.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

QUESTION = "Where are retries limited? Use the search tool."
ARGUMENTS = {"query": "limit_retries"}
WANTED = "limits.py:1-2"
SECONDS = 150
_MOST_RUNS = 3
"""Some start their servers while they ask the model already: on a busy machine the first request may lack the tools."""
CQM = Path(sys.executable).with_name("cqm")
_SEARCH = re.compile(r"(?i)cqm.*search$|^search$")
_PLAIN = {"search", "usages", "outline", "read", "changes", "index_path", "index_status", "chunk_preview"}
"""Names of CQM's tools where a client does not put the server's before them."""
_FINDER, _CALLER = "tool_search", "tool_call"
"""Tools of a client that hides those of servers until the model looks for them."""
_NO_KEY = "none-is-needed"


@dataclass
class Seen:
    """The scripted model's view: CQM's tools, those of the first request with any, its call, the reply."""

    tools: set[str] = field(default_factory=set)
    first: set[str] | None = None
    called: str = ""
    has_reply: bool = False
    looked: bool = False
    requests: int = 0


class Wire(NamedTuple):
    """A protocol: the tools of a request, and the events of an answer: a call of a tool, or a word."""

    tools: Callable[[dict[str, Any]], Iterator[str]]
    call: Callable[[str, object], list[dict[str, Any]]]
    word: Callable[[], list[dict[str, Any]]]


class Client(NamedTuple):
    """An agent's program.

    Attributes:
        package: of npm.
        setup: its name for `cqm setup`.
        command: program and arguments; {url} is the scripted model's address, {question} what to ask.
        environment: variables, with {url} too.
        files: written below the home folder first, with {url}, {cqm} and {project}.
    """

    package: str
    setup: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


_CODEX = 'model_providers.fake={{name="fake",base_url="{url}/v1",wire_api="responses",env_key="FAKE_KEY"}}'
_OPENCODE = (
    '{{"provider": {{"fake": {{"npm": "@ai-sdk/openai-compatible", "options": {{"baseURL": "{url}/v1"}},'
    ' "models": {{"fake": {{}}}}}}}}}}'
)
_CONTINUE = """\
name: test
version: 1.0.0
schema: v1
models:
  - {{name: fake, provider: openai, model: gpt-4o, apiBase: "{url}/v1", apiKey: none, capabilities: [tool_use]}}
mcpServers:
  - {{name: cqm, command: "{cqm}", args: [serve, --root, "{project}"]}}
"""
CLIENTS = {
    "claude": Client(
        "@anthropic-ai/claude-code",
        "claude-code",
        ("claude", "-p", "{question}", "--allowedTools", "mcp__cqm__search"),
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": _NO_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "60000",
            "MCP_TIMEOUT": "60000",
        },
    ),
    "codex": Client(
        "@openai/codex",
        "codex",
        (
            *("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
            *("-c", "mcp_servers.cqm.required=true", "-c", "mcp_servers.cqm.startup_timeout_sec=60"),
            *("-c", "model_provider=fake", "-c", "model=gpt-5", "-c", _CODEX, "{question}"),
        ),
        {"FAKE_KEY": _NO_KEY},
    ),
    "gemini": Client(
        "@google/gemini-cli",
        "gemini",
        ("gemini", "-p", "{question}", "--yolo", "-m", "gemini-2.5-flash"),
        {
            "GEMINI_API_KEY": _NO_KEY,
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        {".gemini/settings.json": '{{"security": {{"auth": {{"selectedType": "gemini-api-key"}}}}}}\n'},
    ),
    "opencode": Client(
        "opencode-ai",
        "opencode",
        ("opencode", "run", "-m", "fake/fake", "{question}"),
        {"OPENCODE_CONFIG_CONTENT": _OPENCODE, "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    ),
    "qwen": Client(
        "@qwen-code/qwen-code",
        "qwen",
        ("qwen", "-p", "{question}", "--yolo", "--auth-type", "openai"),
        {"OPENAI_API_KEY": _NO_KEY, "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "fake"},
    ),
    "copilot": Client(
        "@github/copilot",
        "copilot",
        ("copilot", "-p", "{question}", "--allow-all-tools"),
        {
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": _NO_KEY,
            "COPILOT_MODEL": "gpt-4o",
        },
    ),
    "continue": Client(
        "@continuedev/cli",
        "continue",
        ("cn", "-p", "{question}", "--auto", "--config", "{home}/continue.yaml"),
        files={"continue.yaml": _CONTINUE},
    ),
}


# Protocols: server-sent events, each a JSON object.


def _chat_chunk(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]}


def _chat_call(name: str, arguments: object) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return [_chat_chunk({"role": "assistant", "content": None, "tool_calls": [call]}), _chat_chunk({}, "tool_calls")]


def _chat_word() -> list[dict[str, Any]]:
    return [_chat_chunk({"role": "assistant", "content": "done"}), _chat_chunk({}, "stop")]


def _messages(block: dict[str, Any], delta: dict[str, Any], end: str) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    return [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": end, "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _messages_call(name: str, arguments: object) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    return _messages(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")


def _messages_word() -> list[dict[str, Any]]:
    return _messages({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn")


def _response(item: dict[str, Any]) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "output": [item], "usage": usage}},
    ]


def _response_call(name: str, arguments: object) -> list[dict[str, Any]]:
    space, _, short = name.rpartition("/")
    call = {"type": "function_call", "id": "f1", "call_id": "call_1", "name": short, "arguments": json.dumps(arguments)}
    return _response(call | ({"namespace": space} if space else {}))


def _response_word() -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": "done", "annotations": []}]
    return _response({"type": "message", "id": "m1", "role": "assistant", "content": content})


def _gemini(part: dict[str, Any]) -> list[dict[str, Any]]:
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}}]


def _response_tools(asked: dict[str, Any]) -> Iterator[str]:
    """Yield names, those of a namespace as `namespace/name`."""
    for tool in asked.get("tools", ()):
        yield from (f"{tool['name']}/{inner['name']}" for inner in tool.get("tools", ()))
        yield tool.get("name", "")


WIRES = {
    "/chat/completions": Wire(
        lambda asked: (tool.get("function", tool).get("name", "") for tool in asked.get("tools") or ()),
        _chat_call,
        _chat_word,
    ),
    "/messages": Wire(
        lambda asked: (tool["name"] for tool in asked.get("tools") or ()), _messages_call, _messages_word
    ),
    "/responses": Wire(_response_tools, _response_call, _response_word),
    "GenerateContent": Wire(
        lambda asked: (it["name"] for tool in asked.get("tools") or () for it in tool.get("functionDeclarations", ())),
        lambda name, arguments: _gemini({"functionCall": {"name": name, "args": arguments}}),
        lambda: _gemini({"text": "done"}),
    ),
}


class Model(BaseHTTPRequestHandler):
    """The scripted model."""

    def __init__(self, seen: Seen, show: bool, *given: Any) -> None:
        self.seen, self.show = seen, show
        super().__init__(*given)

    def do_GET(self) -> None:
        """Answer what only looks whether somebody is there."""
        self._send(b'{"data": [], "models": []}', "application/json")

    def do_HEAD(self) -> None:
        """Likewise."""
        self._send(b"", "application/json")

    def do_POST(self) -> None:
        """Ask for a search at the first request with the tool; else say a word."""
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        path = self.path.partition("?")[0]
        wire = next((wire for end, wire in WIRES.items() if path.endswith(end)), None)
        if self.show:
            print("   ", self.command, self.path, len(text), file=sys.stderr)
        if wire is None or not text.startswith("{"):
            self._send(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")
            return
        asked = json.loads(text)
        self.seen.requests += 1
        offered = [*wire.tools(asked)]
        ours = {name for name in offered if "cqm" in name.lower()} or (
            _PLAIN & set(offered) if "search" in offered else set()
        )
        if self.show:
            print("   ", *offered, file=sys.stderr)
        self.seen.tools |= ours
        self.seen.first = ours if self.seen.first is None and offered else self.seen.first
        self.seen.has_reply |= bool(self.seen.called) and WANTED in text
        name = next((it for it in sorted(ours) if _SEARCH.search(it)), "")
        events = wire.word()
        if name and not self.seen.called:
            self.seen.called = name
            events = wire.call(name, ARGUMENTS)
        elif _FINDER in offered and not self.seen.called:
            # Deferred: only names reach the model, and it looks for the rest.
            found = re.findall(r"\bmcp__cqm__\w+", text)
            self.seen.tools |= set(found)
            self.seen.called = next((it for it in found if _SEARCH.search(it)), "") if self.seen.looked else ""
            events = wire.call(_FINDER, {"query": "+cqm search code"})
            if self.seen.called:
                events = wire.call(_CALLER, {"name": self.seen.called, "arguments": ARGUMENTS})
            self.seen.looked = True
        lines = []
        for event in events:
            lines += [f"event: {event['type']}"] if "type" in event else []
            lines += [f"data: {json.dumps(event)}", ""]
        if path.endswith("/chat/completions"):
            lines += ["data: [DONE]", ""]
        self._send("".join(f"{line}\n" for line in lines).encode(), "text/event-stream")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""


def installed(client: Client, folder: Path) -> str:
    """Install a client below a folder unless it is there; return its version, empty if npm can't bring it."""
    package = folder / "node_modules" / client.package / "package.json"
    if not package.is_file():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), client.package]
        subprocess.run(command, check=False, capture_output=True)
    return str(json.loads(package.read_text(encoding="utf-8"))["version"]) if package.is_file() else ""


def run(client: Client, folder: Path, *, show: bool) -> Seen:
    """Set a client up in a home of its own, and ask it."""
    seen = Seen()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Model, seen, show))
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        home, project = Path(work, "home"), Path(work, "project")
        home.mkdir()
        project.mkdir()
        (project / "limits.py").write_text("def limit_retries(attempts):\n    return attempts < 5\n", encoding="utf-8")
        words = {
            "url": f"http://127.0.0.1:{server.server_port}",
            "question": QUESTION,
            "home": str(home),
            "cqm": str(CQM),
            "project": str(project),
        }
        kept = {key: value for key, value in os.environ.items() if key in {"PATH", "LANG", "TMPDIR"}}
        environment = kept | {"HOME": str(home), "CQM_INDEX_IDLE_SECONDS": "1", "NO_PROXY": "127.0.0.1"}
        environment |= {key: value.format(**words) for key, value in client.environment.items()}
        for name, text in client.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text.format(**words), encoding="utf-8")
        setup = [str(CQM), "setup", "--client", client.setup, "--root", str(project), "--yes", "--no-check"]
        subprocess.run(setup, cwd=project, env=environment, check=True, capture_output=True)
        program, *arguments = (it.format(**words) for it in client.command)
        command = [str(folder / "node_modules" / ".bin" / program), *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=project,
                env=environment,
                check=False,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
            )
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired as error:
            said = f"no end after {SECONDS} s: {error.stdout!r} {error.stderr!r}"
        if show:
            print(said[-3000:], file=sys.stderr)
    server.shutdown()
    server.server_close()
    return seen


def main() -> None:
    """Run the clients, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=sorted(CLIENTS), default=sorted(CLIENTS))
    parser.add_argument("--show", action="store_true", help="print the requests, and what the client said")
    given = parser.parse_args()
    print(f"{'client':10} {'version':10} {'tools':>5} {'first':>5}  {'called as':24} {'reply':5} runs")
    for name in given.only:
        client, folder = CLIENTS[name], given.tools / name
        if not (version := installed(client, folder)):
            print(f"{name:10} npm could not bring {client.package}")
            continue
        seen, runs = run(client, folder, show=given.show), 1
        while not seen.has_reply and runs < _MOST_RUNS:
            seen, runs = run(client, folder, show=given.show), runs + 1
        called = seen.called or ("not called" if seen.requests else "asked nothing")
        reply = "yes" if seen.has_reply else "no"
        first = sum(it.endswith(("search", "usages")) for it in seen.first or ())
        print(f"{name:10} {version:10} {len(seen.tools):5} {first:5}  {called:24} {reply:5} {runs:4}", flush=True)


if __name__ == "__main__":
    main()

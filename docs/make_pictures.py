"""Draw docs/pictures/ from real output: `.venv/bin/python docs/make_pictures.py`.

A copy of CQM's own packages is indexed in a home of its own and searched: by `cqm search` at a terminal, and by the MCP
tool `search`, which an agent calls.
"""

import asyncio
import os
import pty
import re
import shutil
import subprocess
import sys
import sysconfig
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp import Client
from mcp_types import TextContent
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.style import Style
from rich.text import Text

from cqm.server.config.settings import load_settings
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.mcp.app import make_server

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
PACKAGES = ("chunkers", "index", "server")
COLUMNS, MOST_LINES = 112, 36
SEARCH = "which files are skipped as secrets"
REPLY = "how is a span of time such as 2d read"
BUDGET = 900

_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


def searched(project: Path, environment: dict[str, str]) -> Text:
    """The output of `cqm search` at a terminal."""
    cqm = Path(sysconfig.get_path("scripts")) / "cqm"
    subprocess.run([cqm, "index"], cwd=project, env=environment, check=True, capture_output=True)
    ours, theirs = pty.openpty()
    command = [cqm, "search", SEARCH, "--limit", "3"]
    with subprocess.Popen(command, cwd=project, env=environment, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        output = b"".join(iter(lambda: _read(ours), b""))
        running.wait()
    os.close(ours)
    prompt = Text(f'$ cqm search "{SEARCH}"\n', style="bold")
    return prompt + Text.from_ansi(at_home(output.decode("utf-8").replace("\r\n", "\n"), project))


def at_home(text: str, project: Path) -> str:
    """An output with the temporary home in its first line shortened."""
    return text.replace(str(project.parent), "~")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # Linux says so when the other end is closed.
        return b""


async def replied(project: Path) -> Text:
    """The reply of the tool `search`, below the agent's call."""
    settings = load_settings()
    async with Client(make_server(settings, make_guard([project]))) as client:
        while "fresh." not in (reply := await _called(client)).partition("\n")[0]:  # noqa: ASYNC110 - the client polls
            # The files are not followed yet.
            await asyncio.sleep(1)
    text = Text(f'● cqm search(query: "{REPLY}")\n', style="bold")
    for line in at_home(reply, project).splitlines():
        is_ours = line.startswith(("#", "Below, CQM", "Note:")) or " results for " in line
        text.append(f"  {line}\n", Style(color="green", bold=True) if is_ours else Style())
    return text


async def _called(client: Client) -> str:
    result = await client.call_tool("search", {"query": REPLY, "limit": 3, "token_budget": BUDGET})
    (content,) = result.content
    if not isinstance(content, TextContent) or result.is_error:
        raise SystemExit(str(result))
    return content.text


def draw(text: Text, file: Path, title: str) -> None:
    """Write the first lines of a text as an SVG without fonts of the network."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    lines = text.wrap(console, COLUMNS)
    console.print(Text("\n").join(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        console.print(Text("…", style="dim"))
    svg = console.export_svg(title=title, code_format=_FONTS.sub("", CONSOLE_SVG_FORMAT), unique_id=file.stem)
    file.write_text(svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas"), encoding="utf-8")
    sys.stdout.write(f"{file.relative_to(ROOT)}: {len(svg):,} characters\n")


def main() -> None:
    """Index a copy of the packages and draw both pictures."""
    with TemporaryDirectory() as home:
        project = Path(home) / "cqm"
        for package in PACKAGES:
            shutil.copytree(ROOT / package, project / package, ignore=shutil.ignore_patterns("__pycache__"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CQM_", "XDG_"))}
        terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(COLUMNS)}
        os.environ.clear()
        os.environ.update({**kept, **terminal, "HOME": home, "CQM_INDEX_IDLE_SECONDS": "5"})
        draw(searched(project, dict(os.environ)), PICTURES / "search.svg", "cqm search")
        draw(asyncio.run(replied(project)), PICTURES / "reply.svg", "an agent")
        subprocess.run([Path(sysconfig.get_path("scripts")) / "cqm", "remove", "--yes", str(project)], check=True)


if __name__ == "__main__":
    main()

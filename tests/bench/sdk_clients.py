"""Libraries that speak MCP call CQM: each is installed from its registry, lists the tools and calls `search`.

    python tests/bench/sdk_clients.py --tools FOLDER [--only go ...] [--show]

No model takes part: the client of each library lists and calls over stdio (sdk_programs.py). The table tells its
version, how many of CQM's tools were listed, and whether the reply with the right place came back. A library that its
registry can't bring, or that no program here can run, is named. FOLDER keeps what is installed, one folder a library.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from agent_clients import ARGUMENTS, CQM, WANTED
from sdk_programs import ENDS, SDKS, STARTS, Sdk

_SECONDS = 300
_RUNNERS = {"pip": sys.executable, "npm": "node", "go": "go"}


def installed(sdk: Sdk, folder: Path) -> str:
    """Install a library below a folder unless it is there; return its version, empty if the registry can't bring it."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = [sdk.package, *sdk.others]
    if sdk.registry == "pip":
        python = folder / "bin" / "python"
        if not python.is_file():
            venv.create(folder, with_pip=True)
        told = f"import importlib.metadata as it; print(it.version({sdk.package!r}))"
        version = _said([str(python), "-c", told], folder)
        return version or _said([str(python), "-m", "pip", "install", "-q", *asked], folder, [str(python), "-c", told])
    if sdk.registry == "npm":
        package = folder / "node_modules" / sdk.package / "package.json"
        if not package.is_file():
            _said(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *asked], folder)
        return str(json.loads(package.read_text(encoding="utf-8"))["version"]) if package.is_file() else ""
    listed = ["go", "list", "-m", "-f", "{{.Version}}", sdk.package]
    if not (folder / "go.mod").is_file():
        _said(["go", "mod", "init", "bench"], folder)
    return _said(listed, folder) or _said(["go", "get", f"{sdk.package}/mcp@latest"], folder, listed)


def _said(command: list[str], folder: Path, then: list[str] | None = None) -> str:
    """Run a command, and another after it; return what the last one printed, nothing if one failed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return ""
    return _said(then, folder) if then else done.stdout.strip()


def run(sdk: Sdk, folder: Path, *, show: bool) -> dict[str, Any]:
    """Run a library's program in a home and a project of its own; return the tools and the reply that it printed."""
    ending = {"pip": "py", "npm": "mjs", "go": "go"}[sdk.registry]
    program = folder / f"bench.{ending}"
    program.write_text(STARTS[sdk.registry] + sdk.program + ENDS[sdk.registry], encoding="utf-8")
    if sdk.registry == "go":
        _said(["go", "mod", "tidy"], folder)
        _said(["go", "build", "-o", "bench", "bench.go"], folder)
    command = {"pip": ["bin/python", "bench.py"], "npm": ["node", "bench.mjs"], "go": ["./bench"]}[sdk.registry]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        home, project = Path(work, "home"), Path(work, "project")
        home.mkdir()
        project.mkdir()
        (project / "limits.py").write_text("def limit_retries(attempts):\n    return attempts < 5\n", encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if key in {"PATH", "LANG", "TMPDIR"}}
        environment = kept | {"HOME": str(home), "CQM_INDEX_IDLE_SECONDS": "1", "MCP_USE_ANONYMIZED_TELEMETRY": "false"}
        arguments = [str(CQM), str(project), json.dumps(ARGUMENTS)]
        done = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    if show:
        print(done.stdout[-1000:], done.stderr[-3000:], file=sys.stderr)
    last = done.stdout.strip().rpartition("\n")[2]
    return dict(json.loads(last)) if last.startswith("{") else {"tools": [], "reply": ""}


def main() -> None:
    """Run the libraries, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=sorted(SDKS), default=[*SDKS])
    parser.add_argument("--show", action="store_true", help="print what each program said")
    given = parser.parse_args()
    print(f"{'library':14} {'package':40} {'version':10} {'tools':>5}  reply")
    for name in given.only:
        sdk, folder = SDKS[name], given.tools.resolve() / name.replace(" ", "")
        if not shutil.which(_RUNNERS[sdk.registry]):
            print(f"{name:14} {sdk.package:40} no {_RUNNERS[sdk.registry]} here")
        elif not (version := installed(sdk, folder)):
            print(f"{name:14} {sdk.package:40} {sdk.registry} could not bring it")
        else:
            told = run(sdk, folder, show=given.show)
            reply = "yes" if WANTED in told["reply"] else "no"
            row = f"{name:14} {sdk.registry + ' ' + sdk.package:40} {version:10} {len(told['tools']):5}  {reply}"
            print(row, flush=True)


if __name__ == "__main__":
    main()

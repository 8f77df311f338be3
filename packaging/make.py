"""Write the files which name a version, from pyproject.toml: python packaging/make.py.

`make.py --sdist FILE --url URL` prints the Homebrew formula of a published source archive.
"""

import argparse
import base64
import hashlib
import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from urllib.parse import quote, urlencode

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

NAMESPACE = "io.github.cqm-mcp"
"""In the MCP registry; that of the account which publishes."""
NAME = f"{NAMESPACE}/cqm"
PACKAGE, VERSION = PROJECT["name"], PROJECT["version"]
SUMMARY = "Code-aware search for agents: the right few chunks of code and documents, offline and fresh"
"""At most 100 characters: the registry's bound."""
UVX = {"command": "uvx", "args": [PACKAGE, "serve"]}


def server() -> dict[str, object]:
    """Make the entry of the MCP registry."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": NAME,
        "title": "CQM",
        "description": SUMMARY,
        "version": VERSION,
        "packages": [
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": PACKAGE,
                "version": VERSION,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {"type": "positional", "value": "serve"},
                    {
                        "type": "named",
                        "name": "--root",
                        "description": "Folder to search; without it the client's open folders, or the working folder",
                        "format": "filepath",
                        "isRequired": False,
                        "isRepeated": True,
                    },
                ],
                "environmentVariables": [
                    {
                        "name": "CQM_INDEX_HOME",
                        "description": "Folder of all indexes; the user's cache folder without it",
                        "format": "filepath",
                        "isRequired": False,
                    }
                ],
            }
        ],
    }


def bundle() -> dict[str, object]:
    """Make the manifest of the bundle for Claude Desktop; uv installs the package named in its pyproject.toml."""
    return {
        "manifest_version": "0.4",
        "name": "cqm",
        "display_name": "CQM",
        "version": VERSION,
        "description": SUMMARY,
        "long_description": "CQM indexes a folder of code and documents, keeps the index fresh while files change, and "
        "answers a question with the right few chunks. It works offline: nothing leaves the machine unless you "
        "configure a service.",
        "author": {"name": "CQM"},
        "license": PROJECT["license"],
        "keywords": ["search", "code", "retrieval", "documents"],
        "server": {
            "type": "uv",
            "entry_point": "src/server.py",
            "mcp_config": {
                "command": "uv",
                "args": [
                    "run",
                    "--directory",
                    "${__dirname}",
                    "src/server.py",
                    "serve",
                    "--root",
                    "${user_config.folder}",
                ],
            },
        },
        "tools_generated": True,
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Folder to search",
                "description": "Code and documents that Claude may search and read",
                "required": True,
            }
        },
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
    }


def bundle_project() -> str:
    """Make the bundle's pyproject.toml."""
    return (
        f'[project]\nname = "cqm-bundle"\nversion = "{VERSION}"\n'
        f'requires-python = "{PROJECT["requires-python"]}"\ndependencies = ["{PACKAGE}=={VERSION}"]\n'
    )


def plugin() -> dict[str, object]:
    """Make the manifest of the plugin for Claude Code."""
    return {
        "name": "cqm",
        "version": VERSION,
        "description": SUMMARY,
        "author": {"name": "CQM"},
        "license": PROJECT["license"],
        "keywords": ["search", "code", "retrieval"],
        "mcpServers": {"cqm": UVX},
    }


def marketplace() -> dict[str, object]:
    """Make the marketplace of one plugin, which Claude Code reads at the top of a repository."""
    return {
        "name": "cqm",
        "owner": {"name": "CQM"},
        "metadata": {"description": SUMMARY},
        "plugins": [{"name": "cqm", "source": "./packaging/claude-plugin", "description": SUMMARY}],
    }


def links() -> dict[str, str]:
    """Make links which add CQM to an editor. GitHub shows only those of https; they lead to the others."""
    of_cursor = urlencode({"name": "cqm", "config": base64.b64encode(_compact(UVX).encode()).decode()})
    of_vscode = {"name": "cqm", "type": "stdio", **UVX}
    shown = urlencode({"name": "cqm", "config": _compact({"type": "stdio", **UVX})}, quote_via=quote)
    return {
        "cursor": f"cursor://anysphere.cursor-deeplink/mcp/install?{of_cursor}",
        "cursor_https": f"https://cursor.com/en/install-mcp?{of_cursor}",
        "vscode": f"vscode:mcp/install?{quote(_compact(of_vscode))}",
        "vscode_https": f"https://insiders.vscode.dev/redirect/mcp/install?{shown}",
    }


def files() -> dict[Path, str]:
    """Every file with its text."""
    return {
        HERE / "server.json": _written(server()),
        HERE / "mcpb/manifest.json": _written(bundle()),
        HERE / "mcpb/pyproject.toml": bundle_project(),
        HERE / "claude-plugin/.claude-plugin/plugin.json": _written(plugin()),
        ROOT / ".claude-plugin/marketplace.json": _written(marketplace()),
        HERE / "links.json": _written(links()),
        HERE / "nix/version.json": _written({"package": PACKAGE, "version": VERSION}),
        ROOT / "server/version.py": _code(),
        **{HERE / "man" / name: page for name, page in _manual().pages(VERSION).items()},
    }


def _code() -> str:
    """Write the version into the code: the metadata of an installed package take longer to read."""
    text = (ROOT / "server/version.py").read_text(encoding="utf-8")
    return re.sub('(?m)^VERSION = ".*"$', f'VERSION = "{VERSION}"', text)


def _manual() -> ModuleType:
    """Load `man.py` beside this file, wherever this one was loaded from."""
    spec = importlib.util.spec_from_file_location("make_manual", HERE / "man.py")
    assert spec is not None  # noqa: S101 - for the type
    assert spec.loader is not None  # noqa: S101 - likewise
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def formula(archive: bytes, url: str) -> str:
    """Fill in the Homebrew formula of a published source archive."""
    template = (HERE / "homebrew/cqm.rb.in").read_text(encoding="utf-8")
    return template.replace("@URL@", url).replace("@SHA256@", hashlib.sha256(archive).hexdigest())


def _compact(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"))


def _written(value: Mapping[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files, or print the formula."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sdist", type=Path, help="published source archive")
    parser.add_argument("--url", help="its address")
    asked = parser.parse_args()
    if asked.sdist:
        sys.stdout.write(formula(asked.sdist.read_bytes(), asked.url))
        return
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

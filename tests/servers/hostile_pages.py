"""A tree whose author is hostile, and the pages about it, asked for in this process."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from cqm.index.workers import Workers
from cqm.server.config.settings import load_settings
from cqm.server.ui.app import make_app
from cqm.server.ui.library import Library, make_library
from cqm.server.workspace.workspace import Workspace

TOKEN = "a token"
ADDRESS = "http://127.0.0.1:8000"
ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
HOSTILE_NAME = "<img src=x onerror=alert(3)>'\".md"
SECRET = "4Kq9zX7vLmN4pB2tR8wY6sD1fG3hJ5kQ0aZ7"
LIMITS = '''import time

TOKEN = "ghp_SECRET"


def limit_retries(attempts):
    """Limit how often a request is tried again."""
    while attempts > 5:
        attempts -= 1
    return attempts


class Client:
    """Sends requests."""

    def send(self, request):
        return limit_retries(request.attempts)
'''
ISSUE = {
    "number": 7,
    "title": "limits.py gives up too early",
    "body": "Retries are limited in limits.py, and five attempts are too few.",
    "state": "OPEN",
    "url": "https://github.com/acme/tool/issues/7",
    "comments": [],
}


@contextmanager
def opened_library(roots: list[Path], home: Path, **options: str) -> Iterator[Library]:
    """The library of some roots, each indexed in this process alone."""
    overrides = {
        "index.home": str(home),
        "index.shared": "false",
        "embedding.provider": "none",
        "watch.enabled": "false",
    }
    settings = load_settings(
        roots[0] if roots else None, overrides=overrides | options, environment={}, user=home / "none.yml"
    )
    with ExitStack() as closing:
        workers = Workers(count=1)
        closing.callback(workers.close)
        workspace = Workspace(settings)
        closing.callback(workspace.close)
        for root in roots:
            workspace.open(root).start_or_join().result()
        yield make_library(roots, workspace, workers)


def entered(library: Library) -> TestClient:
    """A browser that came by the link."""
    client = TestClient(make_app(library, TOKEN), base_url=ADDRESS)
    welcome = client.get("/", params={"token": TOKEN})
    client.base_url = f"{ADDRESS}{welcome.headers['refresh'].partition('url=')[2]}"
    return client


def write_tree(root: Path) -> None:
    """Write files of a stranger below a new folder; one beside it is not theirs to show."""
    (root / "src" / "net").mkdir(parents=True)
    (root / "src" / "net" / "limits.py").write_text(LIMITS.replace("SECRET", SECRET))
    (root / "src" / "attack.py").write_text(f"# retries {ATTACK}\ndef attack():\n    return {ATTACK!r}\n")
    (root / HOSTILE_NAME).write_text(f"# Retries {ATTACK}\n\nRetries are limited by {ATTACK}.\n")
    (root / "guide.md").write_text("# Guide\n\n## Retries\n\nA client retries a request, limited to five attempts.\n")
    (root / "issues").mkdir()
    (root / "issues" / "7.json").write_text(json.dumps(ISSUE))
    (root / "picture.bin").write_bytes(bytes(range(256)) * 8)
    (root.parent / "outside.py").write_text("def outside():\n    return 'not yours'\n")
    (root / "link.py").symlink_to(root.parent / "outside.py")

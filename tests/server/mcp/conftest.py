"""A project, and clients of a server for it in both revisions of the protocol."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp.client.client import Client

from cqm.server.config.settings import Settings, load_settings
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.mcp.app import make_server

CODE = '''"""Limits of the service."""


def limit_retries(attempts: int) -> bool:
    """Whether another attempt may be made after a time-out."""
    return attempts < 5
'''
DOCUMENT = "# Handbook\n\n## Deployment\n\nThe service is deployed to the harbour cluster every Friday.\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def mode(request: pytest.FixtureRequest) -> str:
    return str(getattr(request, "param", "auto"))


@pytest.fixture
def shared(request: pytest.FixtureRequest) -> bool:
    """Whether an owner has the index, whose start costs a second."""
    return bool(getattr(request, "param", False))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "limits.py").write_text(CODE)
    (root / "docs").mkdir()
    (root / "docs" / "handbook.md").write_text(DOCUMENT)
    (root / ".env").write_text("PASSWORD=hunter2\n")
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    for path in root.rglob("*.*"):
        # As in a tree that nobody is writing to: what was written a moment ago is read again.
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return root


class Connect(Protocol):
    def __call__(self, *roots: Path, ask_clients: bool = True, **client: Any) -> Any: ...


@pytest.fixture
def settings(tmp_path: Path, shared: bool) -> Settings:
    return load_settings(
        overrides={
            "index.home": str(tmp_path / "indexes"),
            "index.shared": shared,
            "embedding.provider": "none",
            "watch.debounce_ms": 10,
        },
        environment={},
        user=tmp_path / "no-file.yml",
    )


@pytest.fixture
def connect(settings: Settings, mode: str, tmp_path: Path) -> Connect:
    """A client of a server that is granted the roots given."""

    @asynccontextmanager
    async def connected(*roots: Path, ask_clients: bool = True, **client: Any) -> AsyncIterator[Client]:
        working = tmp_path / "working"
        working.mkdir(exist_ok=True)
        guard = make_guard(roots, working=working, ask_clients=ask_clients)
        async with Client(make_server(settings, guard), mode=mode, **client) as opened:
            yield opened

    return connected

"""The file of `cqm doctor --bundle`: it helps, and tells nothing that its owner would not."""

import json
import zipfile
from pathlib import Path

import pytest

from cqm.index import Index
from cqm.server.config.settings import Settings, load_settings
from cqm.server.doctor.bundle import write_bundle
from cqm.server.doctor.machine_checks import Checked, Verdict

KEY = "AKIAIOSFODNN7EXAMPLQ"
LOG = f"""\
2026-11-26 02:00:00,123 77 WARNING cqm.index.update.run: cannot read private_plan.py, key {KEY}
Traceback (most recent call last):
  File "/home/jane/private_place/.venv/lib/python3.11/site-packages/cqm/index/engine.py", line 12, in update
    secret_call("private_plan.py")
  File "/home/jane/private_place/plan.py", line 3, in f
OSError: private_plan.py is gone
private lines of a native library
"""


def parts_of(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    overrides = {
        "index.home": str(tmp_path / "home"),
        "index.workers": "1",
        "embedding.provider": "none",
        "scan.exclude": "private_dir/**",
        "cache.redis_url": "redis://private.host/0",
    }
    return load_settings(tmp_path, overrides=overrides, environment={}, user=tmp_path / "none.yml")


@pytest.mark.processes
def test_a_bundle_has_no_names_texts_or_secrets_unless_names_are_asked_for(tmp_path: Path, settings: Settings) -> None:
    root = tmp_path / "private_project"
    root.mkdir()
    (root / "private_plan.py").write_text("def private_words():\n    return 1\n")
    with Index.open(root, settings.index_options(root)) as index:
        index.update()
        (index.folder / "owner.log").write_text(LOG)
        (index.folder / "owner.log").chmod(0o600)
    detail = "redis://:hunter2hunter2@private.host/0 refuses"
    check = Checked("store", Verdict.PROBLEM, detail, "ask private_admin", 0.5)
    write_bundle(tmp_path / "help.zip", root, settings, [check], names=False)
    parts = parts_of(tmp_path / "help.zip")
    assert sorted(parts) == ["about.json", "checks.json", "options.json", "owner.log", "status.json"]
    told = "".join(parts.values())
    for word in ("private", "hunter2", KEY, "jane", str(tmp_path)):
        assert word not in told, word
    status, options = json.loads(parts["status.json"]), json.loads(parts["options.json"])
    assert (status["chunks"], status["files"]["indexed"], status["failed"]) == (1, 1, 0)
    assert status["last_update"]["stages"]["parsing"] > 0
    assert (options["index.workers"], options["index.home"]) == (1, "(set)")
    assert json.loads(parts["checks.json"]) == [{"name": "store", "verdict": "problem", "seconds": 0.5}]
    assert json.loads(parts["about.json"])["packages"]["numpy"]
    assert parts["owner.log"].splitlines() == [
        "2026-11-26 02:00:00,123 77 WARNING cqm.index.update.run: ...",
        '  File "cqm/index/engine.py", line 12, in update',
        "OSError",
    ]
    write_bundle(tmp_path / "help.zip", root, settings, [check], names=True)
    told = "".join(parts_of(tmp_path / "help.zip").values())
    assert "cannot read private_plan.py" in told
    assert "private.host/0 refuses" in told
    for word in ("hunter2", KEY, "private_words"):
        assert word not in told, word
    assert sorted(path.name for path in tmp_path.iterdir()) == ["help.zip", "home", "private_project"]


def test_a_bundle_is_written_without_settings_or_an_index(tmp_path: Path, settings: Settings) -> None:
    write_bundle(tmp_path / "help.zip", tmp_path, None, [], names=False)
    assert sorted(parts_of(tmp_path / "help.zip")) == ["about.json", "checks.json"]
    write_bundle(tmp_path / "help.zip", tmp_path, settings, [], names=False)
    assert json.loads(parts_of(tmp_path / "help.zip")["status.json"])["exists"] is False

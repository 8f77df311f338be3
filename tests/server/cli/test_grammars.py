"""Files whose grammars come from the bundle or a wheel of their own are read by the confined workers of an index."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

FILES = {
    "infra/main.tf": 'resource "aws_s3_bucket" "logs" {\n  bucket = "logs"\n}\n',
    "Dockerfile": "FROM golang:1.22 AS compile\nRUN go build\n",
    "api/shop.proto": 'syntax = "proto2";\nmessage OrderPlaced {\n  required string id = 1;\n}\n',
    "web/button.scss": "@mixin raised($depth) {\n  top: $depth;\n}\n",
    "web/card.less": ".rounded(@radius; @rest) when (@radius > 1) {\n  border-radius: @radius;\n}\n",
    "Makefile": "package: all\n\ttar cf x.tar x\n",
}


SYMBOLS = {
    "aws_s3_bucket.logs": "infra/main.tf",
    "compile": "Dockerfile",
    "OrderPlaced": "api/shop.proto",
    "raised": "web/button.scss",
    ".rounded": "web/card.less",
    "package": "Makefile",
}


def test_symbols_of_builds_and_schemas_are_found_in_an_index(cqm: "Cqm") -> None:
    for path, text in FILES.items():
        (cqm.project / path).parent.mkdir(exist_ok=True)
        (cqm.project / path).write_text(text, encoding="utf-8")
    assert cqm.json("index")["failed"] == []
    assert {symbol: cqm.json("read", symbol)["path"] for symbol in SYMBOLS} == SYMBOLS


@pytest.mark.processes
def test_a_bundle_cut_off_is_told_by_doctor_with_the_remedy(tmp_path: Path) -> None:
    [archive] = Path(sysconfig.get_path("purelib")).glob("semble_grammars/grammars/*/*.tar.gz")
    copy = tmp_path / "semble_grammars" / "grammars" / "here"
    copy.mkdir(parents=True)
    (tmp_path / "semble_grammars" / "__init__.py").touch()
    shutil.copy(archive.with_name("manifest.json"), copy)
    (copy / archive.name).write_bytes(archive.read_bytes()[:1_000_000])
    command = "from cqm.server.doctor.machine_checks import check_parsers as c; print(c(None))"
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert f"{copy / archive.name} is damaged" in told.stdout
    assert "Install CQM again" in told.stdout

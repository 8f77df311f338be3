"""Files whose grammars come from the bundle or a wheel of their own are read by the confined workers of an index."""

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


@pytest.mark.parametrize(
    ("symbol", "path"),
    [
        ("aws_s3_bucket.logs", "infra/main.tf"),
        ("compile", "Dockerfile"),
        ("OrderPlaced", "api/shop.proto"),
        ("raised", "web/button.scss"),
        (".rounded", "web/card.less"),
        ("package", "Makefile"),
    ],
)
def test_symbols_of_builds_and_schemas_are_found_in_an_index(cqm: "Cqm", symbol: str, path: str) -> None:
    (cqm.project / path).parent.mkdir(exist_ok=True)
    (cqm.project / path).write_text(FILES[path], encoding="utf-8")
    assert cqm.json("index")["failed"] == []
    assert cqm.json("read", symbol)["path"] == path

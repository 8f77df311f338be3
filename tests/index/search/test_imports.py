"""A line of imports is answered by what it brings in."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Confidence, Query

pytestmark = pytest.mark.processes

FILES = {
    "web/src/lib/helper.ts": "const waits = 3;\n\nexport function debounce(run) {\n  return run;\n}\n",
    "web/src/parts/helper.ts": "export function debounce(run) {\n  return run();\n}\n",
    "web/src/app.ts": "import { debounce as later } from '../lib/helper';\n\nlater(() => 1);\n",
    "src/socket.h": "#ifndef SOCKET_H\n#define SOCKET_H\nint open_socket(void);\n#endif\n",
    "src/socket.c": '#include "socket.h"\n\nint open_socket(void) { return 1; }\n',
    "internal/cart/cart.go": "package cart\n\nfunc Total() int { return 1 }\n",
    "internal/cart/cart_test.go": "package cart\n\nfunc TestTotal(t *testing.T) { Total() }\n",
    "cmd/main.go": 'package main\n\nimport (\n\t"github.com/acme/shop/internal/cart"\n)\n\n'
    "func main() { cart.Total() }\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("imports"), FILES, "shop") as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("import { debounce } from '../lib/helper';", "web/src/lib/helper.ts", 3),
        ("import { debounce as later } from '@/parts/helper'", "web/src/parts/helper.ts", 1),
        ('#include "socket.h"', "src/socket.h", 1),
        ('"github.com/acme/shop/internal/cart"', "internal/cart/cart.go", 1),
    ],
)
def test_an_import_is_answered_by_what_it_brings_in(index: Index, text: str, path: str, line: int) -> None:
    answer = index.search(Query(text))
    assert (answer.hits[0].path, answer.hits[0].asked_line) == (path, line)
    assert answer.confidence is Confidence.HIGH


def test_an_import_of_another_program_is_not_surely_answered(index: Index) -> None:
    answer = index.search(Query("import { Mailer } from './mailer.service';"))
    assert answer.confidence is not Confidence.HIGH

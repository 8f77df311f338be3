"""Keys that no symbol has, and bodies of requests: the line that says a key, the type that declares the fields."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Answer, Confidence, Query

pytestmark = pytest.mark.processes

FILES = {
    "app/client.py": "def send(request, retry_after):\n    # Retry after a request failed.\n    wait = 1\n"
    '    request.headers["X-Retry-After"] = wait\n    return request\n',
    "a/dist/client.js": 'var a={"X-Retry-After":1};bus.emit("cart:item-added",a);\n',
    "app/retry.py": "def retry_after(x):\n    return x * 2\n",
    "app/cart.ts": "export class Cart {\n  addItem(item: Item) {\n    this.items.push(item);\n"
    '    bus.emit("cart:item-added", item);\n  }\n}\n',
    "app/item-added.ts": "export function itemAdded(cart: Cart) {\n  return cart.items;\n}\n",
    "conf/app.yml": "server:\n  pool:\n    size: 3\n  name: shop\nclient:\n  pool:\n    size: 9\n",
    "conf/pool.py": "class Pool:\n    size = 3\n    server = None\n",
    "conf/app.properties": "# Mail\nmail.from-name=Shop\nmail.retries=3\n",
    "lang/de/orders.php": "<?php\nreturn [\n    'sent_notice' => 'Bestellung gesendet',\n];\n",
    "lang/en/orders.php": "<?php\nreturn [\n    'sent_notice' => 'Order sent',\n];\n",
    "lang/en/users.php": "<?php\nreturn [\n    'sent_notice' => 'User sent',\n];\n",
    "web/page.html": '<main>\n  <nav id="side-menu" data-open-state="closed"></nav>\n</main>\n',
    "web/menu.js": "export function sideMenu(menu) {\n  return menu.side;\n}\n",
    "web/size.js": "const PIXELS = 3;\nexport const isSize = (text) => /^(\\d+)(?:px|em)$/.test(text);\n",
    "web/close.js": "export function closeAll(menu) {\n  menu.open = false;\n}\n",
    "web/panel.js": "export class Panel {\n  hide() {\n    this.emit('closeAll', this);\n  }\n}\n",
    "tools/run.sh": "#!/bin/sh\nset -e\ncargo build --frozen-lockfile --release\n",
    "Dockerfile": "FROM alpine AS base-image\nRUN x\n\nFROM base-image AS builder\nRUN y\n",
    "src/Order.java": "package shop;\n\npublic class Order {\n  private String orderId;\n  private long totalPrice;\n"
    "  private String shippedAt;\n  private String buyerName;\n}\n",
    "src/OrderTest.java": "package shop;\n\nclass OrderTest {\n  void reads() {\n"
    '    parse("orderId totalPrice shippedAt buyerName");\n  }\n}\n',
    "db/create_orders.php": "<?php\nSchema::create('orders', function ($table) {\n    $table->id();\n"
    "    $table->string('buyer_name');\n});\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("keys"), FILES, "shop") as opened:
        yield opened


def ask(index: Index, text: str) -> Answer:
    return index.search(Query(text))


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("X-Retry-After", "app/client.py", 4),
        ("X-Retry-After: 3", "app/client.py", 4),
        ("the header X-Retry-After", "app/client.py", 4),
        ("cart:item-added", "app/cart.ts", 4),
        ("server.pool.size", "conf/app.yml", 3),
        ("client.pool.size", "conf/app.yml", 7),
        ("mail.from-name", "conf/app.properties", 2),
        ("orders.sent_notice", "lang/en/orders.php", 3),
        ("#side-menu", "web/page.html", 2),
        ("data-open-state", "web/page.html", 2),
        ('event "closeAll"', "web/panel.js", 3),
        (r"/^(\d+)(?:px|em)$/", "web/size.js", 2),
        (r"regex ^(\d+)(?:px|em)$", "web/size.js", 2),
        ("--frozen-lockfile", "tools/run.sh", 3),
        ("docker build --target builder .", "Dockerfile", 4),
        ("COPY --from=base-image", "Dockerfile", 1),
        ("orders.buyer_name", "db/create_orders.php", 4),
        ("column buyer_name of table orders", "db/create_orders.php", 4),
        ('{"orderId": 1, "totalPrice": 3, "shippedAt": null, "buyerName": "A"}', "src/Order.java", 4),
        ("order_id=1&total_price=3&shipped_at=&buyer_name=A", "src/Order.java", 4),
    ],
)
def test_a_key_is_answered_by_the_line_that_says_it(index: Index, text: str, path: str, line: int) -> None:
    hit = ask(index, text).hits[0]
    assert (hit.path, hit.asked_line) == (path, line)
    assert ask(index, text).confidence is Confidence.HIGH


@pytest.mark.parametrize("text", ["Pool.size", "retry_after", "X-Other-Header", "server.pool.age", "read-only"])
def test_a_symbol_and_a_key_that_nothing_says_are_answered_as_before(index: Index, text: str) -> None:
    assert not [hit for hit in ask(index, text).hits if hit.asked_line]

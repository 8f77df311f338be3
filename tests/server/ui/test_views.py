"""Replies drawn in an agent's client: named only to clients that draw them, escaped, and a page that works alone."""

import importlib.util
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hostile_pages import write_tree
from mcp.client.client import Client
from mcp.client.extension import advertise
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from cqm.index.model.query import Query
from cqm.server.config.settings import load_settings
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.mcp.app import make_server
from cqm.server.ui.library import Library
from cqm.server.ui.views import VIEWS

pytestmark = [pytest.mark.anyio, pytest.mark.processes]

EXTENSION = "io.modelcontextprotocol/ui"
TYPE = "text/html;profile=mcp-app"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
IS_READY = bool(CHROMIUM and importlib.util.find_spec("playwright"))
PAGES = {"search": "ui://cqm/search", "index_status": "ui://cqm/health"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path.resolve() / "tree")
    return tmp_path.resolve() / "tree"


class _Tags(HTMLParser):
    """Names of all elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {tag, *(name for name, _ in attrs)}


def connected(root: Path, mode: str, **declared: Any) -> Client:
    home = root.parent / "home"
    overrides = {"index.home": str(home), "index.shared": "false", "embedding.provider": "none"}
    settings = load_settings(overrides=overrides, environment={}, user=home / "none.yml")
    return Client(make_server(settings, make_guard([root]), views=VIEWS), mode=mode, **declared)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_draws_views_is_told_of_them_and_gets_drawings(root: Path, mode: str) -> None:
    async with connected(root, mode, extensions=[advertise(EXTENSION, {"mimeTypes": [TYPE]})]) as client:
        assert client.server_capabilities.extensions == {EXTENSION: {}}
        tools = {it.name: it for it in (await client.list_tools()).tools}
        assert {name: it.meta["ui"]["resourceUri"] for name, it in tools.items() if "ui" in (it.meta or {})} == PAGES
        assert tools["search"].meta["anthropic/alwaysLoad"]
        assert {it.uri: it.mime_type for it in (await client.list_resources()).resources} == dict.fromkeys(
            PAGES.values(), TYPE
        )
        for address in PAGES.values():
            (page,) = (await client.read_resource(address)).contents
            assert isinstance(page, TextResourceContents)
            assert page.mime_type == TYPE
            assert not re.search(r"(src|href)=|https?://|url\(|@import", page.text)
        found = await client.call_tool("search", {"query": "limit retries"})
        status = await client.call_tool("index_status", {})
    drawn = found.meta["cqm/view"]
    assert re.search(r"<mark>[^/]*limit_retries", drawn)
    read = _Tags()
    read.feed(drawn)
    assert not read.seen & {"script", "img", "iframe", "a", "href", "src"}
    assert not [it for it in read.seen if it.startswith("on")]
    assert "Chunks by language" in status.meta["cqm/view"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_other_clients_see_no_trace_of_views(root: Path, mode: str) -> None:
    async with connected(root, mode, extensions=[advertise(EXTENSION, {"mimeTypes": ["text/html"]})]) as client:
        assert client.server_capabilities.extensions is None
        assert not any("ui" in (it.meta or {}) for it in (await client.list_tools()).tools)
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match="Unknown resource"):
            await client.read_resource(PAGES["search"])
        assert "cqm/view" not in (await client.call_tool("search", {"query": "limit retries"})).meta


HOST = """
window.heard = [];
const frame = document.querySelector("iframe");
const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.addEventListener("message", ({ data }) => {
  window.heard.push(data);
  if (data.method === "ui/initialize") {
    const result = { protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" },
      hostCapabilities: { serverTools: {} }, hostContext: { theme: "dark" } };
    post({ id: data.id, result });
  } else if (data.method === "ui/notifications/initialized") {
    post({ method: "ui/notifications/tool-input", params: { arguments: { query: "limit retries" } } });
    post({ method: "ui/notifications/tool-result", params: window.result });
  } else if (data.method === "tools/call") {
    const text = "<b>lines</b> of " + data.params.arguments.what;
    post({ id: data.id, result: { content: [{ type: "text", text }] } });
  }
});
frame.srcdoc = window.view;
"""
POLICY = (
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:\">"
)


@pytest.mark.long
@pytest.mark.skipif(not IS_READY, reason="no browser here: it takes a Chromium and the package playwright")
def test_the_page_draws_results_in_a_sandbox_and_asks_through_the_client(library: Library) -> None:
    from playwright.sync_api import sync_playwright

    query = Query("limit retries")
    result = {"content": [], "_meta": {"cqm/view": VIEWS.answer(query, library.ask(query))}}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 700, "height": 900})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.set_content("<iframe sandbox='allow-scripts' width='690' height='880'></iframe>")
        page.evaluate(
            "([view, result]) => Object.assign(window, { view, result })",
            [VIEWS.page("search").replace("<meta", f"{POLICY}<meta", 1), result],
        )
        page.add_script_tag(content=HOST)
        frame = page.frame_locator("iframe")
        frame.locator(".hit mark").first.wait_for()
        assert frame.locator("#query").input_value() == "limit retries"
        assert frame.locator("body").evaluate("it => getComputedStyle(it).backgroundColor") == "rgb(20, 23, 27)"
        frame.locator("button.place").first.click()
        frame.locator("pre.whole").wait_for()
        assert "<b>lines</b> of src/net/limits.py:" in frame.locator("pre.whole").inner_text()
        frame.locator("#query").press("Enter")
        frame.locator("#view > pre").wait_for()
        asked = [it["params"] for it in page.evaluate("window.heard") if it.get("method") == "tools/call"]
        sizes = [it for it in page.evaluate("window.heard") if it.get("method") == "ui/notifications/size-changed"]
        browser.close()
    assert asked[-1] == {"name": "search", "arguments": {"query": "limit retries"}}
    assert sizes
    assert problems == []

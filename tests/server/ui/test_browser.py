"""The page as a person uses it, in a real browser: type, narrow down, move by keys, open a file, slide, and look."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hostile_pages import write_tree

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
IS_READY = bool(CHROMIUM and importlib.util.find_spec("playwright"))
AXE = Path(os.environ.get("AXE_SCRIPT", "axe.min.js"))
"""The script of axe-core, from npm; without it the page is not searched for barriers."""

pytestmark = [
    pytest.mark.processes,
    pytest.mark.long,
    pytest.mark.skipif(not IS_READY, reason="no browser here: it takes a Chromium and the package playwright"),
]


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """The link of `cqm ui` about a tree; the browser comes while its index is made."""
    home = root.parent
    variables = {
        "CQM_INDEX_HOME": str(home / "indexes"),
        "CQM_INDEX_IDLE_SECONDS": "0",
        "CQM_EMBEDDING_PROVIDER": "none",
    }
    environment = os.environ | variables | {"XDG_CONFIG_HOME": str(home), "HOME": str(home)}
    command = [Path(sys.executable).with_name("cqm"), "ui", root, "--no-open"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr
            said = running.stderr.readline() + running.stderr.readline()
            yield said.split()[-1]
        finally:
            running.terminate()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    root = tmp_path_factory.mktemp("browser").resolve() / "tree"
    write_tree(root)
    with serving(root) as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": 390, "height": 800}, permissions=["clipboard-read", "clipboard-write"]
        )
        shown = context.new_page()
        shown.goto(link)
        shown.wait_for_selector("#q")
        shown.problems = []
        shown.on("pageerror", lambda error: shown.problems.append(str(error)))
        shown.on("dialog", lambda dialog: shown.problems.append(f"a script of the tree ran: {dialog.message}"))
        yield shown
        browser.close()


def test_a_person_searches_by_keys_and_follows_a_result(page: Any) -> None:
    page.goto(f"{page.url.partition('?')[0]}health")
    page.wait_for_selector(".sure:has-text('complete')")
    page.locator("body").press("/")
    page.wait_for_selector("#q:focus")
    page.locator("#q").press_sequentially("limit retries")
    page.wait_for_selector(".hit mark:has-text('limit_retries')")
    assert "q=limit+retries" in page.url
    assert "results" in page.locator("#count").inner_text()
    page.locator("#q").press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator(".hit").first
    assert first.evaluate("it => it === document.activeElement")
    page.keyboard.press("c")
    page.wait_for_selector(".hit button:has-text('Copied')")
    assert "def limit_retries(attempts):" in page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.click("nav[aria-label=Language] a:has-text('python')")
    page.wait_for_selector(".facets a[aria-current]")
    page.locator("a.place:has-text('limits.py')").first.click()
    page.wait_for_selector("tr.asked")
    assert page.locator(".edge").count() == 1
    assert page.problems == []


def test_enter_goes_to_the_results_of_the_question_that_was_typed(page: Any) -> None:
    page.goto(f"{page.url.rpartition('/')[0]}/?q=guide")
    page.wait_for_selector(".hit")
    page.locator("#q").fill("")
    page.locator("#q").press_sequentially("limit retries")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit:first-child:focus mark:has-text('limit_retries'), .hit:focus mark:has-text('limit')")
    assert page.evaluate("document.querySelector('.hit') === document.activeElement")
    assert page.problems == []


def test_a_button_that_needs_the_script_is_not_shown_without_it(page: Any) -> None:
    without = page.context.browser.new_context(java_script_enabled=False)
    without.add_cookies([{**it, "sameSite": "Strict"} for it in page.context.cookies()])
    plain = without.new_page()
    plain.goto(f"{page.url.rpartition('/')[0]}/?q=retries")
    assert plain.locator(".hit").count()
    assert plain.locator("button.copy:visible").count() == 0
    without.close()


def test_health_says_so_when_cqm_was_stopped(page: Any, tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    write_tree(root)
    other = page.context.browser.new_page()
    with serving(root) as link:
        other.goto(link)
        other.wait_for_selector("#q")
        other.goto(f"{other.url.rpartition('/')[0]}/health")
        other.wait_for_selector(".sure:has-text('complete')")
    other.wait_for_selector("[role=alert]:has-text('was it stopped?')")
    other.close()


def test_a_slider_cuts_anew_at_once(page: Any) -> None:
    page.goto(f"{page.url.rpartition('/')[0]}/preview?path=src/net/limits.py")
    before = page.locator(".figures b").first.inner_text()
    page.locator("input[name=auto_tokens]").fill("64")
    page.wait_for_function("before => document.querySelector('.figures b').textContent !== before", arg=before)
    assert "auto_tokens=64" in page.url
    assert page.problems == []


@pytest.mark.skipif(
    not AXE.exists(), reason="no browser here: AXE_SCRIPT names no axe.min.js of the npm package axe-core"
)
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_barrier(page: Any, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    folder = page.url.rpartition("/")[0]
    told = ("uses?name=limit_retries&path=src/net/limits.py", "file?path=gone.py", "nowhere")
    shown = ("./", "./?q=retries", "file?path=src/net/limits.py", "preview?path=guide.md", "health", "asked")
    for address in ("../", *shown, *told):
        page.goto(f"{folder}/{address}")
        page.wait_for_load_state("networkidle") if address != "health" else page.wait_for_selector(".treemap")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate(
            "axe.run().then(it => it.violations.map(rule => [rule.impact, rule.id, rule.nodes[0].html]))"
        )
        assert found == [], address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address

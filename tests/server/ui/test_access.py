"""Only who came by the link sees the pages, and no page lets a stranger's text do anything."""

from html.parser import HTMLParser

import pytest
from hostile_pages import ADDRESS, ATTACK, HOSTILE_NAME, TOKEN
from starlette.testclient import TestClient

from cqm.server.ui.app import make_app
from cqm.server.ui.library import Library

pytestmark = pytest.mark.processes

PAGES = [
    ("./", {}),
    ("./", {"q": "retries limited"}),
    ("./", {"q": ATTACK, "language": ATTACK, "folder": ATTACK, "mode": ATTACK, "shown": ATTACK}),
    ("./", {"q": "alert", "mode": "exact"}),
    ("results", {"q": f"retries {ATTACK}"}),
    ("file", {"path": HOSTILE_NAME, "line": "1", "symbol": ATTACK}),
    ("file", {"path": "src/attack.py"}),
    ("file", {"path": ATTACK}),
    ("uses", {"name": "limit_retries"}),
    ("uses", {"name": ATTACK, "part": "1"}),
    ("mentions", {"path": HOSTILE_NAME}),
    ("preview", {"path": HOSTILE_NAME}),
    ("cut", {"path": "src/attack.py", "auto": "on", "auto_tokens": ATTACK}),
    ("cut", {"path": ATTACK}),
    ("health", {}),
    ("treemap", {"root": ATTACK}),
    ("asked", {}),
]


class Page(HTMLParser):
    """Elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))


@pytest.fixture
def stranger(library: Library) -> TestClient:
    return TestClient(make_app(library, TOKEN), base_url=ADDRESS)


@pytest.mark.parametrize("address", ["/", "/?token=wrong", "/?token=", "/health", "/static/ui.js", "/x/?token=a+token"])
def test_without_the_token_a_page_says_how_to_get_the_link(stranger: TestClient, address: str) -> None:
    answer = stranger.get(address)
    assert answer.status_code == 403
    assert "Open the link that <code>cqm ui</code> printed" in answer.text
    assert "limit" not in answer.text
    assert "name='color-scheme' content='light dark'" in answer.text


def test_the_link_gives_a_cookie_that_scripts_other_sites_and_other_ports_do_not_get(stranger: TestClient) -> None:
    welcome = stranger.get("/", params={"token": TOKEN})
    cookie = welcome.headers["set-cookie"]
    folder = welcome.headers["refresh"].partition("url=")[2]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    # A browser sends it to each port of this host, but only below a folder whose name nobody else knows.
    assert f"Path={folder}" in cookie
    assert len(folder) > 12
    assert TOKEN not in cookie
    assert stranger.get(folder).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example:8000", ""])
def test_a_page_that_makes_the_browser_take_its_name_for_this_machine_is_refused(
    browser: TestClient, host: str
) -> None:
    assert browser.get("health", headers={"Host": host}).status_code == 403


def test_a_page_is_only_read(browser: TestClient) -> None:
    assert browser.post("./").status_code == 405


@pytest.mark.parametrize(("page", "given"), PAGES)
def test_text_of_strangers_makes_no_element_and_no_page_could_run_it(
    browser: TestClient, page: str, given: dict[str, str]
) -> None:
    answer = browser.get(page, params=given)
    assert answer.status_code in {200, 400, 404}
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    found = Page(answer.text).elements
    scripts = [given["src"].partition("?")[0] for name, given in found if name == "script"]
    assert scripts in ([], ["static/ui.js"])
    names = {attribute for _, given in found for attribute in given}
    assert not {name for name in names if name.startswith("on")}
    assert "style" not in names or "style-src-attr" in policy
    assert "img" not in {name for name, _ in found}
    addresses = [given[key] for _, given in found for key in ("href", "src", "action", "data-load") if key in given]
    assert not [it for it in addresses if ":" in it.partition("?")[0] and not it.startswith("vscode://file/")]

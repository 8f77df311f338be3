"""The pages show what the index knows, and files only as the index reads them."""

import re
from pathlib import Path

import anyio
import pytest
from hostile_pages import HOSTILE_NAME, SECRET, entered, opened_library
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from cqm.index.model.query import Query, SearchMode
from cqm.server.owner.open import open_index
from cqm.server.ui.health_page import health_events
from cqm.server.ui.library import Library, make_library
from cqm.server.ui.treemap import MOST_CELLS, Sized, treemap

RECTANGLE = re.compile(r"<rect class='\w+' x='([\d.]+)' y='([\d.]+)' width='([\d.]+)' height='([\d.]+)' rx='3'>")


def shown(browser: TestClient, page: str, **given: object) -> str:
    # Parameters would replace those of a link.
    answer = browser.get(page, params={name: str(value) for name, value in given.items()} or None)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.processes
def test_a_result_has_its_lines_the_matched_words_and_the_parts_of_its_score(browser: TestClient) -> None:
    page = shown(browser, "results", q="limit retries")
    first = page.partition("<article")[2].partition("</article>")[0]
    assert "path=src%2Fnet%2Flimits.py&amp;line=6&amp;symbol=limit_retries#L6" in first
    assert "<mark><i class='f'>limit_retries</i></mark>" in first
    assert ">6</td>" in first
    assert re.search(r"<th scope='row'>terms</th><td><svg .*?<rect class='for'.*?>\+\d", first)


@pytest.mark.processes
def test_words_of_a_question_in_another_language_are_marked_in_english(browser: TestClient) -> None:
    page = shown(browser, "results", q="リトライの制限")
    assert "Asked in English: &quot;retry restricted limit&quot;." in page
    assert "<mark><i class='f'>limit_retries</i></mark>" in page


@pytest.mark.processes
def test_a_mode_or_root_of_the_address_that_is_none_is_told(browser: TestClient) -> None:
    page = shown(browser, "results", q="limit retries", mode="fuzzy", root="<b>gone")
    assert (
        "mode fuzzy: expected one of hybrid, semantic, lexical, exact, regex. These are the results of hybrid." in page
    )
    assert "root &lt;b&gt;gone: expected one of tree. These are the results of all." in page
    assert "expected one of" not in shown(browser, "results", q="limit retries", mode="exact", root="tree")


@pytest.mark.processes
def test_a_facet_narrows_the_results_and_is_left_again(browser: TestClient) -> None:
    everything = shown(browser, "results", q="retries")
    assert "guide.md" in everything
    link = re.search(r"href='(\./\?[^']*language=python[^']*)'", everything)
    assert link
    narrowed = shown(browser, link[1].replace("&amp;", "&"))
    assert "limits.py" in narrowed
    assert "guide.md" not in narrowed
    assert "aria-current='true' href='./?q=retries'>python" in narrowed
    below = shown(browser, "results", q="retries", folder="src/net")
    assert "limits.py" in below
    assert "attack.py" not in below


@pytest.mark.processes
def test_an_answer_is_copied_as_an_agent_sees_it(browser: TestClient) -> None:
    copied = browser.get("agent", params={"q": "limit retries"})
    assert copied.headers["content-type"].startswith("text/plain")
    assert re.match(r"\d+ results? for \"limit retries\" \(lexical\)", copied.text)
    assert "def limit_retries(attempts):" in copied.text
    alone = shown(browser, "agent", q="limit retries", only=0)
    assert alone.startswith('1 result for "limit retries"')


@pytest.mark.processes
@pytest.mark.parametrize(
    ("editor", "link"),
    [("cursor", "cursor://file{path}:6"), ("idea", "idea://open?file={path}&amp;line=6"), ("none", "")],
)
def test_a_result_opens_in_the_editor_of_the_option(tree: Path, tmp_path: Path, editor: str, link: str) -> None:
    with opened_library([tree / "src" / "net"], tmp_path, **{"ui.editor": editor}) as library:
        page = shown(entered(library), "results", q="limit_retries")
    assert link.format(path=(tree / "src" / "net" / "limits.py").as_posix()) in page
    assert ("Open in the editor" in page) == bool(link)


@pytest.mark.processes
def test_a_file_is_shown_with_its_chunks_its_symbols_and_without_its_secrets(browser: TestClient) -> None:
    page = shown(browser, "file", path="src/net/limits.py", line=6)
    assert "<tr id='L6' class='t" in page
    assert "<b>limit_retries</b> function" in page
    assert "<a href='#L13'" in page
    assert SECRET not in page
    assert "secrets redacted: 1" in page
    uses = shown(browser, "uses", name="limit_retries", path="src/net/limits.py")
    assert "src/net/limits.py:17</a>" in uses
    assert "7.json" in shown(browser, "mentions", path="src/net/limits.py")


@pytest.mark.processes
@pytest.mark.parametrize(
    "path", ["../outside.py", "link.py", "/etc/passwd", "picture.bin", "src", "", "none.py", "a\0b"]
)
@pytest.mark.parametrize("page", ["file", "cut"])
def test_what_is_not_in_the_index_is_not_shown(browser: TestClient, page: str, path: str) -> None:
    answer = browser.get(page, params={"path": path})
    assert answer.status_code in {400, 404}
    assert "not yours" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.processes
def test_a_slider_changes_the_chunks_of_its_strategy_only(browser: TestClient) -> None:
    def chunks(**given: object) -> list[str]:
        page = shown(browser, "cut", path="src/net/limits.py", auto="on", fixed="on", **given)
        return re.findall(r"<b>(\d+)</b><span>chunks", page)

    few, many = chunks(auto_tokens=2048), chunks(auto_tokens=64)
    assert int(few[0]) < int(many[0])
    assert few[1] == many[1]
    # A size that no slider has counts as the nearest one.
    assert chunks(auto_tokens=1) == many
    assert SECRET not in shown(browser, "cut", path="src/net/limits.py")


@pytest.mark.processes
def test_health_tells_counts_and_what_is_left_out_by_reason(browser: TestClient) -> None:
    page = shown(browser, "health")
    assert "<span class='sure'>complete</span>" in page
    assert "picture.bin: binary" in page
    assert "src/net/limits.py:3:" in page
    assert SECRET not in page
    assert "python" in shown(browser, "treemap")


@pytest.mark.processes
def test_health_is_told_again_when_the_index_changes(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    (root / "one.py").write_text("def one():\n    return 1\n")

    async def told(library: Library) -> list[str]:
        async def is_gone() -> bool:
            return False

        events, found = health_events(library, is_gone), []
        async for event in events:
            if event.startswith("data: "):
                found.append(event)
                if len(found) == 1:
                    (root / "two.py").write_text("def two():\n    return 2\n")
                    await anyio.to_thread.run_sync(library.opened("tree").index.update)
                else:
                    break
        return found

    with opened_library([root], tmp_path / "home") as library:
        before, after = anyio.run(told, library)
    assert "1 indexed" in before
    assert "2 indexed" in after
    assert before.endswith("\n\n")
    assert before.count("\n") == 2


@pytest.mark.processes
def test_paths_of_several_roots_begin_with_the_name_of_theirs(tree: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "again.py").write_text("def try_again(retries):\n    return retries\n")
    with opened_library([tree, other], tmp_path / "home") as library:
        browser = entered(library)
        page = shown(browser, "results", q="retries")
        assert "path=tree%2Fsrc%2Fnet%2Flimits.py" in page
        assert "root=other" in page
        alone = shown(browser, "results", q="retries", root="other")
        assert "again.py" in alone
        assert "limits.py" not in alone
        assert "try_again" in shown(browser, "file", path="other/again.py")
        assert browser.get("file", params={"path": "elsewhere/again.py"}).status_code == 404


@pytest.mark.processes
def test_a_filter_that_one_of_several_roots_lacks_keeps_the_results_of_the_others(tree: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "retries.go").write_text("package other\n\nfunc TryAgain(retries int) int { return retries }\n")
    with opened_library([tree, other], tmp_path / "home") as library:
        page = shown(entered(library), "results", q="retries", language="go")
    assert "retries.go" in page
    assert "limits.py" not in page


@pytest.mark.processes
def test_an_index_that_cannot_be_opened_is_told_on_the_page_of_health_and_in_its_events(tmp_path: Path) -> None:
    good, bad = (tmp_path.resolve() / name for name in ("good", "bad"))
    for root in (good, bad):
        root.mkdir()
        (root / "one.py").write_text("def one():\n    return 1\n")

    async def told(library: Library) -> list[str]:
        async def is_gone() -> bool:
            return len(found) > 1

        found: list[str] = []
        # From the second look on nothing is new; the first goes on to the second.
        with anyio.move_on_after(6):
            async for event in health_events(library, is_gone):
                found += [event]
        return found

    with opened_library([good], tmp_path / "home") as library:
        (bad / "cqm.yml").write_text("chunk: {max_tokens: many}\n")
        both = make_library([good, bad], library.workspace, library.workers)
        page = shown(entered(both), "health")
        events = anyio.run(told, both)
    for text in (page, events[1]):
        assert "1 indexed" in text
        assert "max_tokens" in text


@pytest.mark.processes
def test_a_cqm_yml_that_was_broken_meanwhile_is_told_beside_results_and_health(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    (root / "app.py").write_text("def begin():\n    return 1\n")
    with opened_library([root], tmp_path / "home") as library:
        (root / "cqm.yml").write_text("chunk: {max_tokens: many}\n")
        browser = entered(library)
        told = f"{root}/cqm.yml:1"
        while told not in shown(browser, "health"):
            pass
        page = shown(browser, "results", q="begin")
        assert told in page
        assert "app.py" in page
        (root / "cqm.yml").unlink()
        while told in shown(browser, "results", q="begin"):
            pass
        assert told not in shown(browser, "health")


@pytest.mark.processes
@pytest.mark.parametrize("mode", ["hybrid", "exact", "regex"])
def test_results_go_on_by_links_alone_until_there_are_no_more(tmp_path: Path, mode: str) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    for number in range(75):
        (root / f"part{number}.py").write_text(f"def gather_{number}(basket):\n    return basket + {number}\n")
    with opened_library([root], tmp_path / "home") as library:
        browser = entered(library)
        page, found, pages = shown(browser, "./", q="basket", mode=mode), set[str](), 1
        assert "shown=20#r11'>More results" in page
        assert "id='r11'" in shown(browser, "./", q="basket", mode=mode, shown=20)
        while link := re.search(r"<a class='more' href='([^']+)'", page):
            found |= set(re.findall(r"path=(part\d+\.py)", page))
            page, pages = shown(browser, link[1].replace("&amp;", "&")), pages + 1
        found |= set(re.findall(r"path=(part\d+\.py)", page))
        assert f"results {61 if mode == 'hybrid' else 121} to" in page
        first = re.search(r"href='([^']+)'>First results", page)
        assert first
        assert "30 or more results" in shown(browser, first[1].replace("&amp;", "&"))
    assert len(found) == 75
    # Every matching line is a result of these modes.
    assert pages == (8 if mode == "hybrid" else 15)


@pytest.mark.processes
def test_a_question_that_is_refused_stays_in_its_form(browser: TestClient) -> None:
    refused = browser.get("./", params={"q": "(unclosed", "mode": "regex"})
    assert refused.status_code == 400
    assert "value='(unclosed'" in refused.text
    assert "<option value='regex' selected>" in refused.text
    assert "role='alert'" in refused.text
    cut = browser.get("preview", params={"path": "none.py", "auto": "on"})
    assert cut.status_code == 404
    assert "name='path' value='none.py'" in cut.text


@pytest.mark.processes
def test_an_answer_without_results_calls_none_the_nearest(browser: TestClient) -> None:
    page = shown(browser, "results", q="not_a_word_in_here", mode="exact")
    assert "Nothing found" in page
    assert "0 results" in page
    assert "nearest" not in page


@pytest.mark.processes
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/../../outside.py", "is outside of"),
        ("/etc/passwd", "is outside of"),
        ("src", "src is a folder."),
        ("", "expected that of a file"),
        ("none.py", "does not exist"),
    ],
)
@pytest.mark.parametrize("page", ["file", "cut"])
def test_a_path_that_is_no_file_of_the_index_is_told_as_what_it_is(
    browser: TestClient, page: str, path: str, words: str
) -> None:
    assert words in browser.get(page, params={"path": path}).text


@pytest.mark.processes
def test_an_address_without_a_page_and_a_file_that_is_gone_lead_on(browser: TestClient) -> None:
    unknown = browser.get("settings")
    assert unknown.status_code == 404
    assert "<a href='./'>Search</a>" in unknown.text
    assert "<a href='health'>" in unknown.text
    assert "<a href='./?q=gone.py'>Search for gone.py</a>" in browser.get("file", params={"path": "src/gone.py"}).text


@pytest.mark.processes
def test_a_note_on_a_page_is_a_sentence(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    for number in range(30):
        (root / f"part{number}.py").write_text(f"def gather_{number}(basket):\n    return basket + {number}\n")
    with opened_library([root], tmp_path / "home") as library:
        page = shown(entered(library), "results", q="gather sockets of the gardener when closed")
    assert re.search(r"<li>(Nothing in the index|Few words of the question)", page)


@pytest.mark.processes
def test_a_question_of_an_agent_leads_to_the_same_answer_and_to_the_symbols_it_read(tree: Path, tmp_path: Path) -> None:
    options = {"index.shared": "true", "index.idle_seconds": "0"}
    with opened_library([tree], tmp_path / "home", **options) as library:
        with open_index(tree, library.settings) as client:
            found = client.search(Query("limit_retries(attempts)", mode=SearchMode.EXACT)).hits
            client.usages("limit_retries", 5)
        page = shown(entered(library), "asked")
    assert "href='./?q=limit_retries%28attempts%29&amp;mode=exact'" in page
    assert "href='uses?name=limit_retries'" in page
    assert all(f"{it.path}:{it.line or it.start_line}</a>" in page for it in found)


@pytest.mark.processes
def test_uses_of_a_result_are_a_link_where_scripts_are_off(browser: TestClient) -> None:
    page = shown(browser, "file", path="src/net/limits.py", symbol="limit_retries")
    assert re.search(r"aria-busy='true'><a href='uses\?name=limit_retries[^']*'>Uses of limit_retries</a>", page)


@pytest.mark.processes
def test_the_name_of_one_of_several_roots_is_told_as_a_folder(tree: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "again.py").write_text("def try_again(retries):\n    return retries\n")
    with opened_library([tree, other], tmp_path / "home") as library:
        assert "other is a folder." in entered(library).get("file", params={"path": "other"}).text


@pytest.mark.processes
def test_a_large_file_is_shown_and_cut_in_parts_without_the_secrets_that_begin_above(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *[SECRET * 2] * 40, "-----END RSA PRIVATE KEY-----"])
    code = [f"def step_{number}(basket):\n    return basket + {number}" for number in range(6_000)]
    (root / "steps.py").write_text("\n".join([*code[:490], f'KEY = """{key}"""', *code[490:]]) + "\n")
    with opened_library([root], tmp_path / "home") as library:
        browser = entered(library)
        for page in ("file", "preview"):
            text, found = shown(browser, page, path="steps.py"), list[int]()
            for _ in range(20):
                assert SECRET not in text
                assert "This file is large" in text
                found += [int(it) for it in re.findall(r"id='L(\d+)'", text)]
                after = re.search(r"<a href='([^']+)'>Lines after", text)
                if not after:
                    break
                text = shown(browser, after[1].replace("&amp;", "&"))
            assert len(text) < 2_000_000
            assert len(found) == 12_042
        part = shown(browser, "file", path="steps.py", line=1_500)
        assert "<tr id='L1500'" in part
        assert "<b>step_" in part


@pytest.mark.processes
def test_a_folder_that_is_gone_is_told_with_its_last_answers(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    (root / "one.py").write_text("def one():\n    return 1\n")
    with opened_library([root], tmp_path / "home") as library:
        browser = entered(library)
        root.rename(tmp_path / "elsewhere")
        for page, given in (("results", {"q": "one"}), ("health", {})):
            assert "does not exist any more" in shown(browser, page, **given)


@pytest.mark.processes
def test_a_search_during_the_first_index_says_that_it_goes_on(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    for number in range(300):
        (root / f"part{number}.py").write_text(f"def gather_{number}(basket):\n    return basket + {number}\n" * 20)
    with opened_library([], tmp_path / "home") as empty:
        library = make_library([root], empty.workspace, empty.workers)
        page = shown(entered(library), "results", q="not_a_word_in_here")
    assert f"Indexing {root} goes on" in page
    assert "The index is empty" not in page
    assert "Not all is indexed yet" in page


@pytest.mark.processes
def test_while_the_index_is_opened_pages_say_so_at_once_and_ask_again(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    (root / "app.py").write_text("def begin():\n    return 1\n")
    told = f"The index of {root} is being opened."
    with opened_library([], tmp_path / "home") as empty:
        library = make_library([root], empty.workspace, empty.workers)
        library.opening.set()
        browser = entered(library)
        assert "id='q'" in shown(browser, "./")
        assert told in shown(browser, "health")
        for page, given in {"results": {"q": "begin"}, "asked": {}, "file": {"path": "app.py"}}.items():
            answer = browser.get(page, params=given)
            assert (answer.status_code, told in answer.text) == (503, True)
            assert ("refresh" in answer.headers) == (page != "results")
        library.workspace.open(root).start_or_join().result()
        library.opening.clear()
        assert "app.py" in shown(browser, "results", q="begin")


@pytest.mark.processes
def test_the_tree_shows_what_the_index_holds(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src/app.py").write_text("def begin():\n    return 1\n" * 500)
    (root / "guide.md").write_text("# Guide\n")
    with opened_library([root], tmp_path / "home") as library:
        (root / "src/app.py").unlink()
        page = shown(entered(library), "treemap")
    assert "src/app.py: 13,000 bytes, mostly python" in page
    assert "guide.md: 8 bytes, mostly markdown" in page


@pytest.mark.processes
def test_a_hostile_name_leads_to_its_file(browser: TestClient) -> None:
    link = re.search(r"href='(file\?[^']*img[^']*)'", shown(browser, "results", q="retries are limited by"))
    assert link
    assert HOSTILE_NAME.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;").replace(
        '"', "&quot;"
    ) in shown(browser, link[1].replace("&amp;", "&").replace("&#x27;", "'"))


@given(sizes=st.lists(st.integers(1, 10**9), min_size=1, max_size=200))
def test_a_treemap_has_few_rectangles_within_its_bounds(sizes: list[int]) -> None:
    files = [Sized(f"folder{at % 7}/file{at}.py", size, "python") for at, size in enumerate(sizes)]
    found = [tuple(map(float, it)) for it in RECTANGLE.findall(treemap(files))]
    assert 1 <= len(found) <= MOST_CELLS
    assert all(x >= 0 and y >= 0 and x + width <= 1000.6 and y + height <= 420.6 for x, y, width, height in found)


def test_a_rectangle_of_a_treemap_is_as_large_as_its_file() -> None:
    drawn = treemap([Sized("a.py", 3_000, "python"), Sized("b.go", 1_000, "go")])
    (_, _, *large), (_, _, *small) = (tuple(map(float, it)) for it in RECTANGLE.findall(drawn))
    assert (large[0] + 1.5) * (large[1] + 1.5) == pytest.approx(3 * (small[0] + 1.5) * (small[1] + 1.5), rel=0.01)

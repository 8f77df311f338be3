from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document
from cqm.chunkers.tokens import estimate

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)
APART = ChunkOptions(max_tokens=512, min_tokens=0)
BODY = "<p>A paragraph that is long enough not to be packed with what comes after it, so it is a chunk.</p>\n"


def chunked(text: str, options: ChunkOptions = SMALL) -> ChunkReport:
    return chunk(Document("doc.html", text), options)


def only(text: str) -> Chunk:
    (chunk,) = chunked(text, ChunkOptions()).chunks
    return chunk


def read_tokens(piece: Chunk) -> int:
    return estimate(piece.content or piece.text)


def check(text: str, options: ChunkOptions) -> None:
    chunks = chunked(text, options).chunks
    cores = [piece.text[piece.overlap_before :] for piece in chunks]
    assert "".join("".join(cores).split()) == "".join(text.split())
    assert all(
        one.end == other.start + other.overlap_before or not other.overlap_before for one, other in pairwise(chunks)
    )
    for piece in chunks:
        assert piece.text == text[piece.start : piece.end]
        assert piece.start_line == text.count("\n", 0, piece.start) + 1
        assert read_tokens(piece) <= options.max_tokens * 1.5 or not piece.overlap_before


@pytest.mark.row("D1")
@pytest.mark.parametrize("wrapper", ["{}", "<section>\n{}</section>\n", "<div><article>{}</article></div>"])
def test_a_page_is_cut_at_its_headings_however_they_are_wrapped(wrapper: str) -> None:
    parts = [f"<h1>Guide</h1>\n{BODY}", f"<h2>Install</h2>\n{BODY}", f"<h2>Use</h2>\n{BODY}"]
    report = chunked("<body>" + "".join(map(wrapper.format, parts)) + "</body>", APART)
    assert [chunk.symbol for chunk in report.chunks] == ["Guide", "Guide > Install", "Guide > Use"]
    assert [chunk.metadata.headings for chunk in report.chunks][1] == ("Guide", "Install")
    assert report.chunks[1].context == "# Guide"


@pytest.mark.row("D1")
def test_deeper_headings_cut_only_what_is_over_the_limit() -> None:
    text = f"<h1>T</h1>\n{BODY}<h2>A</h2>\n{BODY}<h3>One</h3>\n{BODY}<h3>Two</h3>\n{BODY}"
    assert [chunk.symbol for chunk in chunked(text, APART).chunks] == ["T", "T > A"]
    assert [chunk.symbol for chunk in chunked(text).chunks] == ["T", "T > A", "T > A > One", "T > A > Two"]


@pytest.mark.row("D1")
def test_the_content_is_the_text_that_people_see() -> None:
    text = """<html lang="en"><head><title>Shop &amp; more</title></head><body>
<h2 id="fruit">Fruit<a class="headerlink" href="#fruit">¶</a></h2>
<p>Fresh <b>every</b>&nbsp;day: <a href="x.html">see here</a>.</p>
<ul><li>one</li><li><p>two</p></li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<div class="highlight-python3 notranslate"><pre><span>def</span> f():
    <span>return</span> 1
</pre></div>
<script>go();</script>{{ name }} {% if x %}</body></html>"""
    chunk = only(text)
    assert chunk.content == (
        "Shop & more\n\n## Fruit\n\nFresh every day: see here.\n\n- one\n- two\n\n| a | b |\n| 1 | 2 |\n\n"
        "```python3\ndef f():\n    return 1\n```\n\n{{ name }} {% if x %}"
    )
    assert chunk.metadata.title == "Shop & more"
    assert chunk.metadata.has_code
    assert (chunk.metadata.natural_language, chunk.metadata.facts["anchor"]) == ("en", "fruit")


@pytest.mark.row("D1")
@pytest.mark.parametrize(
    ("block", "rows"),
    [
        ("<table>\n{}</table>\n", "<tr><td>a cell of it</td></tr>\n"),
        ("<pre>\n{}</pre>\n", "a line. Of code\n\n"),
        ("<ul>\n{}</ul>\n", "<li>an item</li>\n"),
    ],
)
def test_a_table_list_or_code_over_the_limit_stays_whole_with_a_warning(block: str, rows: str) -> None:
    whole = block.format(rows * 40)
    report = chunked(f"<h1>T</h1>\n{BODY}{whole}{BODY}")
    assert any(whole in chunk.text for chunk in report.chunks)
    assert "stay whole" in report.warnings[0]
    far = chunked(f"<h1>T</h1>\n{BODY}{block.format(rows * 400)}{BODY}")
    assert all(read_tokens(chunk) <= SMALL.max_tokens for chunk in far.chunks)
    assert "were divided" in far.warnings[0]
    assert sum(chunk.text.endswith(rows.rstrip() + "\n") for chunk in far.chunks) > 5


@pytest.mark.row("D1")
def test_the_parts_of_a_divided_section_overlap_and_others_do_not() -> None:
    text = (
        f"<h1>T</h1>\n{''.join(f'<p>Sentence {n} one. Sentence two is here.</p>' for n in range(20))}<h1>U</h1>{BODY}"
    )
    chunks = chunked(text).chunks
    assert [bool(chunk.overlap_before) for chunk in chunks] == [False, *[True] * (len(chunks) - 2), False]
    assert all(read_tokens(chunk) <= SMALL.max_tokens for chunk in chunks)
    assert {chunk.symbol for chunk in chunks[:-1]} == {"T"}
    assert not any(chunk.overlap_before for chunk in chunked(text, ChunkOptions(64, 16, overlap_percent=0)).chunks)


@pytest.mark.row("D1")
def test_no_overlap_begins_inside_code_or_a_table() -> None:
    words = "<p>Words before it. More words. Even more of them here. And a last one.</p>\n"
    code = "<pre>\n" + "code line. More\n" * 8 + "</pre>\n"
    table = f"<table>{'<tr><td>A cell. More</td><td>Another one. End</td></tr>' * 5}</table>\n"
    chunks = chunked(f"<h1>T</h1>\n{(words + code + words + table) * 4}").chunks
    assert any(piece.overlap_before for piece in chunks)
    for tag in ("pre", "table"):
        assert all(piece.text.count(f"<{tag}>") == piece.text.count(f"</{tag}>") for piece in chunks)


@pytest.mark.row("D1")
def test_signatures_of_sphinx_are_headings() -> None:
    entry = '<dl class="py function">\n<dt class="sig" id="os.{0}">os.<b>{0}</b>(path)</dt>\n<dd>{1}</dd></dl>\n'
    text = (
        f"<h1>os</h1>\n{BODY}"
        + "".join(entry.format(name, BODY * 2) for name in ("join", "split"))
        + f"<p>After.</p>{BODY}"
    )
    report = chunked(text, ChunkOptions(max_tokens=96, min_tokens=16))
    assert [chunk.symbol for chunk in report.chunks] == ["os", "os > os.join", "os > os.split", "os"]


@pytest.mark.row("D1")
def test_a_fragment_without_headings_is_cut_at_its_blocks() -> None:
    chunks = chunked(BODY.replace("\n", "") * 20).chunks
    assert len(chunks) > 5
    assert all(chunk.text.startswith("<p>") and chunk.text.endswith("</p>") for chunk in chunks)


def test_scripts_and_menus_have_kinds_of_their_own() -> None:
    menu = "<nav><ul>" + "<li><a href='x'>Some page of it</a></li>" * 8 + "</ul></nav>\n"
    text = f"{menu}<h1>T</h1>\n{BODY * 3}<script>\n{'call(1);' * 300}\n</script>\n"
    chunks = chunked(text).chunks
    assert (chunks[0].kind, chunks[-1].kind) == ("navigation", "script")


def test_unclosed_tags_and_headings_lose_nothing() -> None:
    text = f"<h1>One\n<p>text\n<ul><li>a<li>b\n<h2>Two</h3>\n<p>more\n{BODY}"
    check(text, SMALL)
    assert [name for chunk in chunked(text).chunks for name in chunk.defines] == ["One", "One > Two"]


SOUP = [
    "<div>",
    "</div>",
    "<p>",
    "</p>",
    "<h1>A</h1>",
    "<h2>B",
    "</h2>",
    "<h4>",
    "<table>",
    "<tr><td>",
    "</table>",
    "<ul>",
    "<li>",
]
SOUP += [
    "</ul>",
    "<pre>",
    "</pre>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<",
    "&amp;",
    "<dl><dt class=sig id=x>",
    "</dl>",
]
SOUP += [
    "words and words. ",
    "\n",
    "\r\n",
    "\x00",
    "\ud800",
    "語。",
    "<br/>",
    "<nav>",
    "</nav>",
    "<a href='#'>#</a>",
    "<img alt='x'>",
]


@pytest.mark.row("D1")
@given(st.lists(st.tuples(st.sampled_from(SOUP), st.integers(1, 30)), max_size=30), st.sampled_from([SMALL, APART]))
def test_any_soup_of_tags_is_covered(parts: list[tuple[str, int]], options: ChunkOptions) -> None:
    check("".join(part * times for part, times in parts), options)


@pytest.mark.long
@pytest.mark.parametrize("part", ["<div>", "<ul><li>", "<h1>", "<table><tr><td>", "</div>", "<!--", "<a b='", "<nav>x"])
def test_a_tenth_of_a_megabyte_of_anything_is_covered(part: str) -> None:
    check(part * (100_000 // len(part)), ChunkOptions())


@pytest.mark.parametrize("rows", range(12, 16))
def test_a_part_never_repeats_all_of_the_part_before_it(rows: int) -> None:
    code = "<div>\n<pre>" + "x = 1\n" * rows + "</pre></div>"
    text = "<p>" + "One word. " * 8 + "</p>\n" + code + "<p>One.</p><p>" + "Two words. " * 14 + "</p>"
    chunks = chunked(text, ChunkOptions(max_tokens=64, min_tokens=16, overlap_percent=50)).chunks
    assert any(piece.overlap_before for piece in chunks)
    assert all(one.start < other.start for one, other in pairwise(chunks))


def test_names_of_attributes_are_read_in_any_case() -> None:
    text = f"<HTML LANG='ja'><BODY><H1 ID='one'>One</H1>{BODY * 4}<H2><A NAME=\"two\">Two</A></H2>{BODY * 4}"
    chunks = chunked(text + "<PRE CLASS='language-js'>x</PRE>", ChunkOptions(max_tokens=128, min_tokens=0)).chunks
    assert [piece.metadata.facts.get("anchor") for piece in chunks if piece.defines] == ["one", "two"]
    assert chunks[0].metadata.natural_language == chunked(text.lower()).chunks[0].metadata.natural_language
    assert "```js" in chunks[-1].content


@pytest.mark.row("D1")
def test_sizes_are_those_of_what_people_read_however_much_markup_is_around_it() -> None:
    wrapper = '<div class="card card--wide" data-id="{0}"><a href="../p/q/{0}.html"><b>Name {0}</b></a> of it.</div>\n'
    heads = "".join(f"<h4>Member {n}</h4>\n{wrapper.format(n)}" for n in range(200))
    chunks = chunked(f"<h1>Api</h1>\n{heads}", ChunkOptions()).chunks
    sizes = [read_tokens(piece) for piece in chunks]
    assert min(sizes[:-1]) >= ChunkOptions().min_tokens
    assert max(sizes) <= ChunkOptions().max_tokens


@pytest.mark.row("D1")
def test_a_drawing_or_script_which_nobody_reads_is_divided_by_its_source() -> None:
    drawing = "<svg>" + '<path d="M 10 10 L 20 20"/>\n' * 2_000 + "</svg>"
    script = "<script>\n" + "call(1, 2);\n" * 1_000 + "</script>"
    for text in (drawing, script):
        assert all(piece.tokens <= 512 for piece in chunked(f"<h1>T</h1>{BODY}{text}", ChunkOptions()).chunks[1:])


@pytest.mark.row("D1")
@pytest.mark.parametrize(
    "source", ["x" * 100_000, "<a>" * 30_000, "<p title='" + "y" * 100_000 + "'>", "<b>x</b>" * 12_000]
)
def test_no_text_of_a_chunk_is_far_longer_than_its_limit_however_long_a_line_is(source: str) -> None:
    chunks = chunked(f"<h1>T</h1>{source}", ChunkOptions()).chunks
    assert all(piece.tokens <= 512 * 17 for piece in chunks)


@pytest.mark.row("D1")
@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("javadoc", '<html><head><!-- Generated by javadoc (17) --><meta name="generator" content="javadoc/Class">{}'),
        ("doxygen", '<html><head><meta name="generator" content="Doxygen 1.9.4"/>{}'),
        ("dokka", '<script>const s = localStorage.getItem("dokka-dark-mode")</script>{}'),
        ("sphinx", '<meta name="generator" content="Docutils 0.19: https://docutils.sourceforge.io/" />{}'),
        ("rustdoc", '<meta name="generator" content="rustdoc">{}'),
        ("typedoc", '{}<footer><p>Generated using <a href="https://typedoc.org/">TypeDoc</a></p></footer>'),
        ("jazzy", '<link rel="stylesheet" href="../css/jazzy.css" />{}'),
        ("", "{}<p>How to have pages generated by javadoc, Dokka, TypeDoc and Doxygen.</p>"),
    ],
)
def test_pages_which_a_tool_made_of_comments_are_told_from_others(tool: str, text: str) -> None:
    chunk = chunked(text.format(f"<h1>Class A</h1>{BODY}"), ChunkOptions()).chunks[0]
    assert chunk.metadata.facts.get("generator", "") == tool
    assert chunk.kind == ("reference" if tool else "section")

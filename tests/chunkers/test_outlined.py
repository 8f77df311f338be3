import pytest
from gapless import assert_gapless

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

pytestmark = pytest.mark.row("B8")

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)
BODY = "A body of text that is long enough not to be packed with what comes after it, so it is a chunk of its own.\n\n"

FORMS = {
    "guide.org": (
        "#+TITLE: Guide\n\n{b}* TODO [#A] Install it :setup:\n:PROPERTIES:\n:ID: 1\n:END:\n{b}"
        "#+BEGIN_SRC sh\n* no heading\n#+END_SRC\n{b}** On =Linux= and [[https://a.example][elsewhere]]\n{b}* Use\n{b}"
    ),
    "guide.tex": (
        "\\title{{Guide}}\n\n{b}\\section[Short]{{Install \\emph{{it}}}}\\label{{sec:install}}\n{b}"
        "\\begin{{verbatim}}\n\\section{{no heading}}\n\\end{{verbatim}}\n{b}"
        "\\subsection{{On \\texttt{{Linux}}\n  and elsewhere}}\n{b}% \\section{{no heading}}\n\\section*{{Use}}\n{b}"
    ),
    "guide.textile": (
        "h1. Guide\n\n{b}h2(#in). Install _it_\n\n{b}<pre>\nh2. no heading\n</pre>\n\n{b}"
        'h3. On @Linux@ and "elsewhere":https://a.example\n\n{b}h2. Use\n\n{b}'
    ),
    "guide.pod": (
        "=head1 Guide\n\n{b}=head2 Install I<it>\n\n{b}=begin text\n\n=head2 no heading\n\n=end text\n\n{b}"
        "=head3 On C<Linux> and L<elsewhere>\n\n{b}=head2 Use\n\n{b}"
    ),
    "guide.mediawiki": (
        "= Guide =\n\n{b}== Install ''it'' ==\n\n{b}<pre>\n== no heading ==\n</pre>\n\n{b}"
        "=== On <code>Linux</code> and [https://a.example elsewhere] ===\n\n{b}== Use ==\n\n{b}"
    ),
    "guide.texi": (
        "@settitle Guide\n\n{b}@node Install\n@chapter Install @emph{{it}}\n\n{b}"
        "@example\n@chapter no heading\n@end example\n\n"
        "{b}@section On @code{{Linux}} and elsewhere\n\n{b}@unnumbered Use\n\n{b}"
    ),
}
PATHS = ["Guide", "Guide > Install it", "Guide > Install it > On Linux and elsewhere", "Guide > Use"]


def chunked(name: str, text: str, options: ChunkOptions = SMALL) -> tuple[Chunk, ...]:
    found = chunk(Document(name, text), options).chunks
    assert_gapless(text, found)
    return found


@pytest.mark.parametrize("name", FORMS)
def test_sections_of_every_markup_are_named_by_their_headings(name: str) -> None:
    parts = chunked(name, FORMS[name].format(b=BODY))
    assert list(dict.fromkeys(part.symbol for part in parts if part.symbol)) == PATHS
    for title, line in zip(PATHS, ("Guide", "Install", "Linux", "Use"), strict=True):
        first = next(part for part in parts if part.symbol == title)
        assert line in first.text[:80]
    assert {part.metadata.title for part in parts} == {"Guide"}


def test_a_manual_page_is_cut_at_its_sections() -> None:
    text = f'.TH RACE 1\n.SH NAME\n{BODY}.SH "EXIT STATUS"\n{BODY}.SS Signals\n{BODY}'
    symbols = [part.symbol for part in chunked("race.man", text)]
    assert symbols[-2:] == ["EXIT STATUS", "EXIT STATUS > Signals"]


def test_code_lists_and_tables_stay_whole() -> None:
    code = "#+begin_src sh\n" + "echo one two three\n\n" * 30 + "#+end_src\n"
    table = "".join(f"| option {number} | meaning of it |\n" for number in range(20))
    parts = chunked("guide.org", f"* Install\n\n{BODY}{code}\n{BODY}\n{table}\n{BODY}")
    assert any(code.strip() in part.text for part in parts)
    assert any(table.strip() in part.text for part in parts)
    assert "sh" in next(part for part in parts if code.strip() in part.text).metadata.facts["code_languages"]


def test_a_stretch_that_nothing_ends_hides_no_heading() -> None:
    text = f"\\section{{One}}\n{BODY}\\begin{{verbatim}}\n{BODY}\\section{{Two}}\n{BODY}"
    assert "Two" in [part.symbol for part in chunked("guide.tex", text)]


def test_a_document_without_headings_is_cut_as_prose() -> None:
    text = BODY * 6
    assert {part.kind for part in chunked("notes.org", text)} == {"text"}

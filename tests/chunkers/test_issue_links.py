"""Issues that code, documents and issues refer to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document

pytestmark = pytest.mark.row("D8")


def issues(path: str, text: str) -> tuple[str, ...]:
    found = chunk(Document(path, text)).chunks
    return tuple(dict.fromkeys(name for part in found for name in part.metadata.facts.get("issues", ())))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.go", "package a\n\n// Fixes #12 and see GH-7.\nfunc f() {}\n", ("12", "7")),
        ("a.go", "package a\n\n// The pause grows (#34, #35), as in #36.\nfunc f() {}\n", ("34", "35", "36")),
        ("a.c", "/* closes: #5 */\nint f(void) { return 1; }\n", ("5",)),
        ("a.py", 'def f():\n    """Workaround for #99."""\n    return 1  # see #98\n', ("99", "98")),
        ("a.py", "# a pause, #77\nx = 1\n", ("77",)),
        (
            "a.ts",
            "// https://github.com/o/r/issues/12 and https://github.com/o/r/pull/13#issue-1\nf();\n",
            ("12", "o/r#12", "13", "o/r#13"),
        ),
        ("a.rb", "# https://gitlab.com/g/s/p/-/merge_requests/4\nf\n", ("4", "g/s/p#4")),
        ("a.rs", "// rust-lang/rust#1234\nfn f() {}\n", ("rust-lang/rust#1234",)),
        (
            "CHANGES.md",
            "# 1.0\n\n- A pause that grows (#12), by @bob in [#13](https://x.org/a).\n- fixed #14\n",
            ("12", "13", "14"),
        ),
        ("a.css", "/* fixes #12 */\na { color: #123; background: #456 }\n", ("12",)),
        ("a.scss", "// was #123\n$a: #456;\n", ()),
        ("a.md", "# 123 things\n\n#123\n\nGo [there](#12) or [here](a.md#45). &#123; #fff #12ab v1#2\n", ()),
        ("a.py", "#123 was here\n#!shebang\nx = '#123'\ny = a #99\n", ()),
        ("a.c", "#if 1\n#123\n#line 12\nint a;\n#endif\n", ()),
        ("a.py", 'see = f"issue {n}"  # no number\n', ()),
        ("a.yaml", "color: '#123'\nname: x # see #8\n", ("8",)),
        ("a.go", 'package a\n\nvar u = "https://x.org/a#12"\n', ()),
        ("a.go", "package a\n\n// Item #0 and #12345678 are none.\nvar a = 1\n", ()),
    ],
)
def test_issues_are_found_where_people_refer_to_them(path: str, text: str, found: tuple[str, ...]) -> None:
    assert issues(path, text) == found


def test_an_issue_is_of_its_own_number_and_of_those_it_refers_to() -> None:
    issue = {"number": 12, "title": "Crash", "body": "Like #7 and o/q#3.", "state": "open", "user": {"login": "a"}}
    assert issues("a.json", json.dumps([issue])) == ("12", "7", "o/q#3")


@given(st.text(alphabet="#123 /ghGH-fixes:()[]!\n.;{", max_size=300), st.sampled_from(["a.py", "a.md", "a.css", "a.c"]))
def test_whatever_a_text_is_an_issue_is_a_number_or_a_project_and_a_number(text: str, path: str) -> None:
    assert all(name.rpartition("#")[2].isdigit() for name in issues(path, text))


@pytest.mark.long
@pytest.mark.parametrize(
    "part", ["#1 ", "a/b", "fix ", "fixes #1, #", "https://a/", "(#", "GH-", "// ", "see  :  ", "a.", "-/"]
)
def test_a_third_of_a_megabyte_of_anything_like_links_is_read_in_linear_time(part: str) -> None:
    assert chunk(Document("a.md", part * (333_000 // len(part)))).chunks

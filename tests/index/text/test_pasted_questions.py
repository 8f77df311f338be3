"""Questions made to take long: each part of reading one is linear in its length."""

import time

import pytest

from cqm.index.ranking.question import read_question
from cqm.index.text.names.keys import key_in, nested_line
from cqm.index.text.relations.foreign import as_english

SEEDS = (
    *(
        "M a/",
        "modified: ",
        "a/b.c | 12 ",
        "R100\ta\t",
        "1\t2\ta",
        "commit abcdef0\n",
        "+a\n",
        "<<<<<<< a\n",
        "abcdef01 (",
    ),
    *(
        "12.5% ",
        "a;b;",
        "12.5% a [.",
        "1.2s 12% 24% 3.4s 35% ",
        "0.12 1.12 1.12 ",
        "<testcase ",
        '<testcase name="a',
        "Failed a.",
    ),
    *(
        "[ERROR] a.",
        '"Test":"',
        "GET /a ",
        "method=GET ",
        "path=/",
        '"path":"/',
        "curl ",
        "curl -X GET ",
        '{"a":',
        "a=1&",
    ),
    *(
        "X-A-",
        "a.b.",
        "a-b-",
        "Ab",
        "A_B",
        "docker build ",
        "\\d",
        "[a]+",
        "wer ruft ",
        "qui appelle ",
        "\u54ea\u91cc\u8c03\u7528\u4e86",
        "\u0433\u0434\u0435 ",
        "kto ",
        "nerede ",
        "a'b ",
    ),
    *("HTTP/1.1 200\n", "I1127 10:11:12.1  1 a:1] ", "W/a( 1): ", "a\u3092\u547c\u3073\u51fa\u3057\u3066"),
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("end", ["", "\0", "x" * 200 + "!"])
def test_a_question_made_to_take_long_takes_no_longer(seed: str, end: str) -> None:
    for text in ("wer ruft x auf", "\u0433\u0434\u0435 x", "kto x", "kde x", "x nerede"):
        as_english(text)
    began = time.process_time()
    for size in (190, 20_000):
        text = seed * (size // len(seed)) + end
        read_question(text)
        key_in(text[:200])
        as_english(text[:200])
    nested_line(("a", "b"), seed * (5_000 // len(seed)), frozenset())
    assert time.process_time() - began < 1

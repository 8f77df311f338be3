"""Clients read an owner's messages as they were sent, whatever is in them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from cqm.index.model.query import FileProblem
from cqm.server.owner.messages import RESULT, encoded, read, written

PROBLEMS = tuple[FileProblem, ...]
# Half of a surrogate pair stands for a byte of a file name that is no valid Unicode.
texts = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(["\udcff.py", 'a"\\\n\x00', "é漢🙂"])


@given(st.lists(st.builds(FileProblem, texts, texts), max_size=4).map(tuple), st.dictionaries(texts, texts, max_size=2))
def test_a_result_comes_as_it_was_with_whatever_is_told_beside_it(
    problems: tuple[FileProblem, ...], further: dict[str, str]
) -> None:
    further.pop(RESULT, None)
    message = json.loads(encoded(RESULT, PROBLEMS, problems, further))
    assert message == {RESULT: written(problems), **further}
    assert read(PROBLEMS, message[RESULT]) == problems

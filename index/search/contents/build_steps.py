"""Find the instruction of a Dockerfile that a build printed."""

import re
from collections.abc import Iterator

from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import Read, first_lines, line_at, read_best
from cqm.index.store.base import PointFilter
from cqm.index.text.reports.builds import Instruction, instruction_in
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 60, 10
_LANGUAGES = ("dockerfile",)
_INSTRUCTION = re.compile(r"^[ \t]{0,20}[A-Z]{3,12}[ \t][^\n]*(?:(?<=\\)\n[^\n]*|\n[ \t]*#[^\n]*(?=\n))*", re.MULTILINE)
_JOINT = re.compile(r"\\[ \t]*\n(?:[ \t]*#[^\n]*\n)*|\n[ \t]*#[^\n]*")
_STAGE = re.compile(r"^[ \t]*FROM[ \t][^\n]*?(?:[ \t]AS[ \t]+([\w.-]+))?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FLAGS = re.compile(r"(?<=^RUN )(?:--\w+=\S+ )+")
_LEAST = 0.6
"""Of a printed instruction that a chunk has to have, which may end in the middle of it."""


def step_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines of Dockerfiles that have the instruction which a build printed, by id of their chunk.

    Those of the stage that it names come first; empty if none has it.

    Parameters:
        generation: to search.
        text: of the question.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    asked = instruction_in(text)
    if not asked:
        return {}
    read = read_best(generation, query_terms(asked.text), _MOST_CHUNKS, PointFilter(languages=_LANGUAGES))
    found = sorted(
        (not is_stage, it.chunk.role is not None, it.chunk.path, line_at(it, at), it.chunk.id)
        for it in read
        for at, is_stage in _places(asked, it)
    )
    return first_lines(((name, line) for *_, line, name in found), _MOST_LINES)


def _places(asked: Instruction, read: Read) -> Iterator[tuple[int, bool]]:
    """Yield where a chunk has an instruction, and whether in its stage."""
    wanted = _FLAGS.sub("", asked.text)
    for found in _INSTRUCTION.finditer(read.text):
        said = _FLAGS.sub("", " ".join(_JOINT.sub(" ", found[0]).split()))
        if said.startswith(wanted) or (wanted.startswith(said) and len(said) >= _LEAST * len(wanted)):
            stages = [it[1] or "" for it in _STAGE.finditer(read.text, 0, found.start())]
            yield found.start(), bool(asked.stage) and stages[-1:] == [asked.stage]

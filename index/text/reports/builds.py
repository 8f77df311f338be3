"""Read the instruction of a Dockerfile in what a build prints."""

import re
from typing import NamedTuple

_LONGEST = 4_000
_INSTRUCTIONS = "RUN|COPY|ADD|WORKDIR|ENV|CMD|ENTRYPOINT|ARG|USER|EXPOSE|VOLUME|LABEL|SHELL|HEALTHCHECK|ONBUILD"
_STEP = re.compile(
    r"\s{0,4}(?:#\d{1,4} |=> |> )?\s{0,4}(?:(?:CACHED|ERROR|DONE|CANCELED):? )?"
    rf"\[(?:\w{{1,20}}/[\w/.-]{{1,60}} )?(?:(?P<stage>[\w.-]{{1,60}}) )?(?:\d{{1,3}}/\d{{1,3}})\] "
    rf"(?P<step>(?:{_INSTRUCTIONS})\s[^\n]*)"
    rf"|\s{{0,4}}(?:Step|STEP) \d{{1,3}}/\d{{1,3}} ?: (?P<classic>(?:{_INSTRUCTIONS})\s[^\n]*)"
)
_TIME = re.compile(r"(?<!\s)\s{1,60}(?:\d{1,6}\.\d{1,2}s|DONE|CACHED)?$")
_FAILED = re.compile(
    r"process \"(?:/bin/(?:ba)?sh(?: -\w{1,8}){1,4} )?(?P<process>[^\n]{2,3000}?)\" did not complete successfully"
    r"|The command '(?:/bin/(?:ba)?sh(?: -\w{1,8}){1,4} )?(?P<command>[^\n]{2,3000}?)' returned a non-zero code"
    r"|executor failed running \[(?:/bin/(?:ba)?sh(?: -\w{1,8}){1,4} )?(?P<executor>[^\n]{2,3000}?)\]: exit code"
)


class Instruction(NamedTuple):
    """An instruction of a Dockerfile; its end may be cut.

    Attributes:
        text: with its keyword, blanks made one.
        stage: that it is of; empty if unknown, or without a name.
    """

    text: str
    stage: str


def instruction_in(text: str) -> Instruction | None:
    """Return the instruction that a line of a build names; None for other texts.

    "#12 [builder 3/7] RUN go mod download", "Step 3/17 : COPY . .", 'process "/bin/sh -c npm ci" did not complete …'
    """
    if len(text) > _LONGEST or not ("/" in text or "process" in text):
        return None
    if failed := _FAILED.search(text):
        said = next(filter(None, failed.groups()))
        return Instruction(" ".join(f"RUN {said}".replace('\\"', '"').split()), "")
    found = _STEP.match(text)
    if not found:
        return None
    step = _TIME.sub("", (found["step"] or found["classic"])[:_LONGEST])
    return Instruction(" ".join(step.split()), found["stage"] or "")

"""The program that decides about system calls, run here for both machines: this one is one of them at most."""

from collections.abc import Sequence

import pytest

from cqm.index.workers import seccomp
from cqm.index.workers.seccomp import Step, filter_steps

OWN = 4321
ALLOWED, DENIED, MISSING, KILLED = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HIGH = 1 << 32


def verdict(steps: Sequence[Step], machine: str, number: int, *arguments: int) -> int:
    """What the kernel would answer: it interprets the steps as this does."""
    words = {0: number, 4: ARCHITECTURES[machine]}
    for place, value in enumerate((*arguments, 0, 0, 0)[:3]):
        words |= {16 + 8 * place: value % HIGH, 20 + 8 * place: value // HIGH}
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        if code == 0x06:
            return operand
        if code == 0x20:
            loaded = words[operand]
        else:
            holds = {0x15: loaded == operand, 0x35: loaded >= operand, 0x45: bool(loaded & operand)}[code]
            at += if_true if holds else if_false
        at += 1


@pytest.mark.parametrize(
    ("machine", "prlimit64", "tgkill", "fcntl", "clone", "kill", "read"),
    [("x86_64", 302, 234, 72, 56, 62, 0), ("aarch64", 261, 131, 25, 220, 129, 63)],
)
def test_some_calls_depend_on_their_arguments(
    machine: str, prlimit64: int, tgkill: int, fcntl: int, clone: int, kill: int, read: int
) -> None:
    steps = filter_steps(machine, OWN)

    def answered(number: int, *arguments: int) -> int:
        return verdict(steps, machine, number, *arguments)

    assert answered(prlimit64, 0, 7) == ALLOWED
    # The second has its process in the low half of the argument, the third in the high one.
    assert [answered(prlimit64, pid, 7) for pid in (1, HIGH + OWN, HIGH, OWN, 2**64 - 1)] == [DENIED] * 5
    assert [answered(tgkill, pid, pid, 6) for pid in (OWN, OWN + 1, 0, 1)] == [ALLOWED, *[DENIED] * 3]
    assert [answered(fcntl, 3, what) for what in (1, 4, 8, 15, HIGH + 8)] == [ALLOWED, ALLOWED, *[DENIED] * 3]
    assert [answered(clone, flags) for flags in (0x10000, 0x11, 0)] == [ALLOWED, DENIED, DENIED]
    assert [answered(number) for number in (kill, read, 435, 0x40000000 + kill)] == [DENIED, ALLOWED, MISSING, DENIED]


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_every_call_of_the_lists_is_denied_and_a_foreign_machine_ends_the_process(machine: str) -> None:
    steps = filter_steps(machine, OWN)
    numbers = [*seccomp._DENIED[machine].values(), *seccomp._DENIED_ON_ALL.values()]
    assert len(numbers) == len({*numbers})
    assert {verdict(steps, machine, number) for number in numbers} == {DENIED}
    other = next(name for name in ARCHITECTURES if name != machine)
    assert verdict(steps, other, 0) == KILLED
    assert filter_steps("riscv64", OWN) == []

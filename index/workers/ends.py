"""Tell why a worker ended: of its task, or of something outside."""

import pickle
import signal
from typing import NamedTuple

from cqm.index.workers.limits import MEMORY_BYTES, patience, seconds_for

BROKEN = (OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, pickle.UnpicklingError)
"""Errors of reading from a worker which died or was hijacked."""
_OWN_SIGNALS = {"SIGPROF", "SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP", "SIGXFSZ"}
"""Signals a process gets for its own actions."""


class End(NamedTuple):
    """The end of a worker.

    Attributes:
        reason: in words.
        is_own: whether the task caused it, and not somebody outside.
        is_final: whether a task ending like this twice in a row is given up.
    """

    reason: str
    is_own: bool = True
    is_final: bool = True


def end_of(number: int, size: int, error: Exception) -> End:
    """Tell why a worker failed.

    Parameters:
        number: the signal that ended it; 0 for none.
        size: of its text, in bytes.
        error: of reading from it.
    """
    if not isinstance(error, OSError | EOFError):
        return End("it answered with what is no plain data")
    if isinstance(error, TimeoutError):
        return End(f"its parser did not answer for {patience(size):.0f} s")
    name = signal.Signals(number).name if number else "no signal seen"
    if name == "SIGKILL":
        # Ending it takes this signal too.
        return End("its process was ended, as a system does that is short of memory", is_own=False)
    if name not in _OWN_SIGNALS:
        return End(f"its process was ended from outside ({name})", is_own=False, is_final=False)
    reasons = {
        "SIGPROF": f"parsing it took longer than {seconds_for(size):.1f} s",
        "SIGABRT": f"parsing it needed more than {MEMORY_BYTES >> 20} MB, or its parser gave up",
    }
    return End(reasons.get(name, f"its parser crashed ({name})"))

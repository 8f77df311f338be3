"""Leaves the holes of Edge's files holes, in the process of the tests and in all that it starts.

Edge asks the system to read all of its new files ahead, 60 MB of zeros for each index. In memory, where tests keep
their indexes, a page of a hole that is read takes a page of memory: two fifths of the processor time of tests of small
indexes. So the request is answered as done, as the kernel may at any time: it is advice. All else stays as it is.
"""

import ctypes
import platform
import struct
import sys

_MADVISE = {"x86_64": (0xC000003E, 28), "aarch64": (0xC00000B7, 233)}
"""By machine: how the kernel calls it, and the number of the call."""
_POPULATE_READ = 22
_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _DONE = 0x7FFF0000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def pytest_configure() -> None:
    """Answer that advice, where the kernel lets a process do so; see seccomp(2)."""
    machine = _MADVISE.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        return
    architecture, number = machine
    # Offsets in struct seccomp_data: 0 the call's number, 4 the architecture, 32 the low half of the third argument.
    steps = [
        *((_LOAD, 0, 0, 4), (_EQUAL, 0, 5, architecture)),
        *((_LOAD, 0, 0, 0), (_EQUAL, 0, 3, number)),
        *((_LOAD, 0, 0, 32), (_EQUAL, 0, 1, _POPULATE_READ)),
        *((_RETURN, 0, 0, _DONE), (_RETURN, 0, 0, _ALLOW)),
    ]
    packed = b"".join(struct.pack("<HBBI", *step) for step in steps)
    program = _Program(len(steps), packed)
    libc = ctypes.CDLL(None)
    # Only root may do it without giving up what set-user-ID programs give.
    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)

"""The system calls of a worker; see seccomp(2). A parser needs memory, files to read, threads, and its connection.

Others are denied: those to reach other processes, change files, open sockets, start programs, or administer the machine
(a worker of root could). Some are allowed by their arguments: glibc sets its own limits with a call that can set those
of others. The numbers are of the two machines with wheels of CQM.
"""

import ctypes
import os
import platform
import struct

_DENIED = {
    "x86_64": {
        "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "socketpair": 53, "fork": 57, "vfork": 58,
        "execve": 59, "kill": 62, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87,
        "symlink": 88, "chmod": 90, "chown": 92, "ptrace": 101, "mknod": 133, "mount": 165, "add_key": 248,
        "request_key": 249, "keyctl": 250, "mkdirat": 258, "mknodat": 259, "unlinkat": 263, "renameat": 264,
        "linkat": 265, "symlinkat": 266, "fchmodat": 268, "unshare": 272, "perf_event_open": 298, "accept4": 288,
        "process_vm_readv": 310, "process_vm_writev": 311, "renameat2": 316, "bpf": 321, "execveat": 322,
        "userfaultfd": 323,
        "shmget": 29, "semget": 64, "msgget": 68, "truncate": 76, "fchmod": 91, "fchown": 93, "lchown": 94,
        "utime": 132, "setpriority": 141, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197,
        "lremovexattr": 198, "fremovexattr": 199, "utimes": 235, "mq_open": 240, "fchownat": 260, "futimesat": 261,
        "utimensat": 280, "open_by_handle_at": 304, "setns": 308,
        "ftruncate": 77, "fallocate": 285, "rt_sigqueueinfo": 129, "tkill": 200, "ioprio_set": 251,
        "migrate_pages": 256, "move_pages": 279, "rt_tgsigqueueinfo": 297, "kcmp": 312,
        "syslog": 103, "vhangup": 153, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163,
        "settimeofday": 164, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170,
        "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
        "clock_settime": 227, "kexec_load": 246, "clock_adjtime": 305, "finit_module": 313, "kexec_file_load": 320,
    },
    "aarch64": {
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "truncate": 45, "fchmod": 52, "fchownat": 54, "fchown": 55, "utimensat": 88, "setpriority": 140, "mq_open": 180,
        "msgget": 186, "semget": 190, "shmget": 194, "open_by_handle_at": 265, "setns": 268,
        "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "mount": 40,
        "fchmodat": 53, "unshare": 97, "ptrace": 117, "kill": 129, "socket": 198, "socketpair": 199, "bind": 200,
        "listen": 201, "accept": 202, "connect": 203, "add_key": 217, "request_key": 218, "keyctl": 219, "execve": 221,
        "perf_event_open": 241, "accept4": 242, "process_vm_readv": 270, "process_vm_writev": 271, "renameat2": 276,
        "bpf": 280, "execveat": 281, "userfaultfd": 282,
        "ioprio_set": 30, "ftruncate": 46, "fallocate": 47, "tkill": 130, "rt_sigqueueinfo": 138, "migrate_pages": 238,
        "move_pages": 239, "rt_tgsigqueueinfo": 240, "kcmp": 272,
        "umount2": 39, "pivot_root": 41, "chroot": 51, "vhangup": 58, "quotactl": 60, "acct": 89, "kexec_load": 104,
        "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "reboot": 142,
        "sethostname": 161, "setdomainname": 162, "settimeofday": 170, "adjtimex": 171, "swapon": 224, "swapoff": 225,
        "clock_adjtime": 266, "finit_module": 273, "kexec_file_load": 294,
    },
}  # fmt: skip
_DENIED_ON_ALL = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "process_mrelease": 448, "fchmodat2": 452, "setxattrat": 463,
    "removexattrat": 466,
}  # fmt: skip
_OWN_ONLY = {
    "x86_64": {
        "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "prlimit64": 302,
        "sched_setattr": 314,
    },
    "aarch64": {
        "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "prlimit64": 261,
        "sched_setattr": 274,
    },
}  # fmt: skip
"""Allowed where their first argument, a process, is 0: the caller."""
_TGKILL = {"x86_64": 234, "aarch64": 131}
"""Signals to this process's own threads; `abort` sends one."""
_FCNTL = {"x86_64": 72, "aarch64": 25}
_F_SETOWN, _F_SETOWN_EX = 8, 15
"""Operations of fcntl: another process gets a signal when a descriptor is ready, which ends it."""
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3, _CLONE_THREAD = 435, 0x10000
_X32_BIT = 0x40000000

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_EPERM, _ENOSYS = 1, 38
_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL, _LACK, _KILL = 0x7FFF0000, 0x00050000 | _EPERM, 0x00050000 | _ENOSYS, 0x80000000
# Offsets in struct seccomp_data: the call's number, the architecture, and the halves of arguments (both machines have
# the low one first).
_NUMBER, _MACHINE, _FIRST, _FIRST_HIGH, _SECOND = 0, 4, 16, 20, 24
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2

Step = tuple[int, int, int, int]
"""An instruction of classic BPF: its code, how many to skip if true and if not, and its operand."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_calls(libc: ctypes.CDLL) -> bool:
    """Filter the system calls of this process for good; whether the kernel and the machine can.

    Parameters:
        libc: the system's.
    """
    steps = filter_steps(platform.machine(), os.getpid())
    if not steps:
        return False
    packed = b"".join(struct.pack("<HBBI", *step) for step in steps)
    program = _Program(len(steps), packed)
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def filter_steps(machine: str, own: int) -> list[Step]:
    """Return the program deciding about a system call; empty for a machine whose numbers are unknown.

    Parameters:
        machine: from `platform.machine`.
        own: number of the process with this program.
    """
    if machine not in _DENIED:
        return []
    steps: list[Step] = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, _AUDIT_ARCH[machine]), (_RETURN, 0, 0, _KILL)]
    steps += [(_LOAD, 0, 0, _NUMBER)]
    # Threads may be made, processes may not. The flags of clone3 cannot be seen; without it glibc takes clone.
    steps += _for_call(_CLONE3, [(_RETURN, 0, 0, _LACK)])
    steps += _for_call(_CLONE[machine], _allowed_if((_FIRST, _HAS_BITS, _CLONE_THREAD)))
    for number in sorted(_OWN_ONLY[machine].values()):
        steps += _for_call(number, _allowed_if((_FIRST, _EQUAL, 0), (_FIRST_HIGH, _EQUAL, 0)))
    # Process and operation are ints: the kernel doesn't look at their high halves.
    steps += _for_call(_TGKILL[machine], _allowed_if((_FIRST, _EQUAL, own)))
    steps += _for_call(_FCNTL[machine], _denied_if_any(_SECOND, _F_SETOWN, _F_SETOWN_EX))
    numbers = sorted([*_DENIED[machine].values(), *_DENIED_ON_ALL.values()])
    checks = [(_AT_LEAST, _X32_BIT), *((_EQUAL, number) for number in numbers)]
    for left, (test, value) in zip(range(len(checks), 0, -1), checks, strict=True):
        steps.append((test, left, 0, value))
    return [*steps, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL)]


def _for_call(number: int, steps: list[Step]) -> list[Step]:
    """Return steps for one call, which end the program; others go on behind them with the number still loaded."""
    return [(_EQUAL, 0, len(steps), number), *steps]


def _allowed_if(*conditions: tuple[int, int, int]) -> list[Step]:
    """Return steps allowing a call if all conditions hold: the offset of half an argument, a test, its operand."""
    steps: list[Step] = []
    for left, (offset, test, value) in zip(range(len(conditions) - 1, -1, -1), conditions, strict=True):
        # After the remaining ones, of two steps each, come the step that allows, then the one that denies.
        steps += [(_LOAD, 0, 0, offset), (test, 0, 2 * left + 1, value)]
    return [*steps, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL)]


def _denied_if_any(offset: int, *values: int) -> list[Step]:
    """Return steps denying a call where half an argument has one of some values."""
    tests: list[Step] = [
        (_EQUAL, left, 0, value) for left, value in zip(range(len(values), 0, -1), values, strict=True)
    ]
    return [(_LOAD, 0, 0, offset), *tests, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL)]

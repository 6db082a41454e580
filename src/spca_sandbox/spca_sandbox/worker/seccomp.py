"""The system calls that remain: computing, memory, the clock, and the two pipes that are open already."""

from __future__ import annotations

import errno
import struct

# AUDIT_ARCH_* of linux/audit.h, and the numbers of the calls: x86_64 from syscall_64.tbl, aarch64 from
# unistd.h.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "munmap": (11, 215), "brk": (12, 214),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124), "mremap": (25, 216), "madvise": (28, 233), "getpid": (39, 172),
    "exit": (60, 93), "gettimeofday": (96, 169), "sigaltstack": (131, 132), "gettid": (186, 178),
    "futex": (202, 98), "restart_syscall": (219, 128), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "exit_group": (231, 94), "getrandom": (318, 278), "membarrier": (324, 283),
}  # fmt: skip
ALLOWED = {
    architecture: {name: numbers[i] for name, numbers in _CALLS.items()}
    for i, architecture in enumerate(ARCHITECTURES)
}
WITHOUT_EXEC = {"x86_64": {"mmap": 9, "mprotect": 10}, "aarch64": {"mmap": 222, "mprotect": 226}}
"""System calls that are allowed, but not for memory that could be executed."""

_X32_BIT = 0x40000000
_PROT_EXEC = 4

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _THIRD_ARGUMENT = 0, 4, 32  # offsets in struct seccomp_data (little-endian: low word first)
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def program(machine: str) -> bytes:
    """Return the BPF filter for a machine (`os.uname().machine`). Raises OSError for one without a filter.

    What is not allowed fails with EPERM, so that a skill sees an exception; calls by a foreign ABI kill.
    """
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter for {machine}")
    code = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL),
    ]
    for number in ALLOWED[machine].values():
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for number in WITHOUT_EXEC[machine].values():
        code += [
            (_JUMP_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, _THIRD_ARGUMENT),
            (_JUMP_ANY_BIT, 1, 0, _PROT_EXEC),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        ]
    code.append((_RETURN, 0, 0, _ERRNO | errno.EPERM))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)

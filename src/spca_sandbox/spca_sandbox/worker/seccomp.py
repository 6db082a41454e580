"""The system calls that remain: computing, memory, the clock, and the two pipes that are open already."""

from __future__ import annotations

import errno
import struct

# AUDIT_ARCH_* of linux/audit.h, and the numbers of the calls: x86_64 from syscall_64.tbl, aarch64 from
# unistd.h.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED = {
    "x86_64": {
        "read": 0,
        "write": 1,
        "close": 3,
        "munmap": 11,
        "brk": 12,
        "rt_sigaction": 13,
        "rt_sigprocmask": 14,
        "rt_sigreturn": 15,
        "sched_yield": 24,
        "mremap": 25,
        "madvise": 28,
        "getpid": 39,
        "exit": 60,
        "gettimeofday": 96,
        "sigaltstack": 131,
        "gettid": 186,
        "futex": 202,
        "restart_syscall": 219,
        "clock_gettime": 228,
        "clock_getres": 229,
        "exit_group": 231,
        "getrandom": 318,
        "membarrier": 324,
    },
    "aarch64": {
        "close": 57,
        "read": 63,
        "write": 64,
        "exit": 93,
        "exit_group": 94,
        "futex": 98,
        "clock_gettime": 113,
        "clock_getres": 114,
        "sched_yield": 124,
        "restart_syscall": 128,
        "sigaltstack": 132,
        "rt_sigaction": 134,
        "rt_sigprocmask": 135,
        "rt_sigreturn": 139,
        "gettimeofday": 169,
        "getpid": 172,
        "gettid": 178,
        "brk": 214,
        "munmap": 215,
        "mremap": 216,
        "madvise": 233,
        "getrandom": 278,
        "membarrier": 283,
    },
}
WITHOUT_EXEC = {"x86_64": {"mmap": 9, "mprotect": 10}, "aarch64": {"mmap": 222, "mprotect": 226}}
"""Allowed, but for memory that could be executed."""

_X32_BIT = 0x40000000
_PROT_EXEC = 4

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _THIRD_ARGUMENT = 0, 4, 32  # offsets in struct seccomp_data (little-endian: low word first)
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def program(machine: str) -> bytes:
    """The BPF filter for a machine (`os.uname().machine`). Raises OSError for one it is not written for.

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

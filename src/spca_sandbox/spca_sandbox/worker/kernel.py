"""The few Linux calls that Python has no functions for. Each raises OSError when the kernel says no.

And the system calls that remain: computing, memory, the clock, and the two pipes that are open already.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

CLONE_NEWUSER = 0x10000000
CLONE_OTHERS = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""New namespaces of mounts, host names, IPC, processes and the network."""
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 0x4000, 0x40000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63

# The same numbers on every architecture.
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_LANDLOCK_CREATE_RULESET_VERSION = 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, *values: int) -> None:
    """Call prctl(2), with 0 for its unused arguments."""
    padded = [ctypes.c_ulong(v) for v in (*values, 0, 0, 0, 0)[:4]]
    _check(_libc.prctl(option, *padded))


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send that signal when the parent (thread) ends."""
    prctl(_PR_SET_PDEATHSIG, signal_number)


def no_dumps() -> None:
    """Forbid core dumps, and any other process of this user to attach or read the memory."""
    prctl(_PR_SET_DUMPABLE, 0)


def no_new_privileges() -> None:
    """Forbid every later exec to gain privileges; Landlock and seccomp ask for it."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones."""
    _check(_libc.unshare(flags))


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Call mount(2)."""
    encoded = (source.encode(), target.encode(), kind.encode() or None)
    _check(_libc.mount(*encoded, ctypes.c_ulong(flags), data.encode() or None))


class _CapHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_capabilities() -> None:
    """Empty all capability sets, for good."""
    for number in range(_LAST_CAPABILITY + 1):
        try:
            prctl(_PR_CAPBSET_DROP, number)
        except OSError:  # past the last one this kernel knows, or none to drop
            break
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(ctypes.byref(_CapHeader(_CAPABILITY_VERSION_3, 0)), nothing))


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


def landlock_deny_all() -> None:
    """Deny every access to files, TCP ports, and abstract sockets and signals outside, as far as it goes.

    Raises OSError where the kernel has no Landlock or does not enable it. Access rights by its version (ABI):
    Documentation/userspace-api/landlock.rst of the kernel.
    """
    abi = _check(_libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION))
    # 13 in ABI 1 (execute, read, write, make, remove), then refer, truncate, and ioctl on devices.
    rights = 13 + sum(abi >= version for version in (2, 3, 5))
    ruleset = _Ruleset(fs=(1 << rights) - 1, net=0b11 if abi >= 4 else 0, scoped=0b11 if abi >= 6 else 0)
    size = ctypes.c_size_t(ctypes.sizeof(ruleset))
    fd = _check(_libc.syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(ruleset), size, 0))
    try:
        _check(_libc.syscall(_LANDLOCK_RESTRICT_SELF, fd, 0))
    finally:
        os.close(fd)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install_seccomp(program: bytes) -> None:
    """Install a BPF program (8 bytes an instruction) as this process's system call filter."""
    buffer = ctypes.create_string_buffer(program, len(program))
    prog = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    mode, none = ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.c_ulong(0)
    _check(_libc.prctl(_PR_SET_SECCOMP, mode, ctypes.byref(prog), none, none))


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


def filter_program(machine: str) -> bytes:
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

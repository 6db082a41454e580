"""Locks the worker in, feature by feature, with what this kernel offers. Nothing here fails: it reports."""

from __future__ import annotations

import os
import resource
import select
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from spca_core.processes.wire import limit
from spca_sandbox.worker import kernel

_NOBODY = 65534
_EMPTY_ROOT = "/proc"  # a folder that every system has, to mount an empty file system on


def enter(setup: dict[str, Any], lifeline: int) -> dict[str, str]:
    """Confine this process for good; return, per feature, "" if it holds or else why it does not.

    Everything that needs a file must have been imported before. The order matters: namespaces need privileges
    that are dropped then, and the seccomp filter, which is last, forbids what the others are made with.
    """
    was_root = os.geteuid() == 0
    features: dict[str, str] = {}

    def attempt(name: str, action: Callable[[], None]) -> None:
        try:
            action()
            features[name] = ""
        except (OSError, ValueError) as error:
            features[name] = str(error)

    attempt("namespaces", lambda: _namespaces(was_root))
    split(lifeline)
    kernel.die_with_parent(signal.SIGKILL)
    if features["namespaces"]:
        features["empty root"] = "needs namespaces"
    else:
        attempt("empty root", _empty_root)
    attempt("no privileges", lambda: _drop_privileges(was_root))
    attempt("no new privileges", kernel.no_new_privileges)
    os.closerange(2, 1 << 16)
    attempt("landlock", kernel.landlock_deny_all)
    attempt("limits", lambda: _limits(setup))
    attempt("seccomp", lambda: kernel.install_seccomp(kernel.filter_program(os.uname().machine)))
    return features


def split(lifeline: int) -> None:
    """Fork. The child returns; the parent stays behind as its guard and never does.

    The child is process 1 of a new PID namespace if there is one: when it dies, everything in it dies.
    """
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    child = os.fork()
    if child:
        _watch(child, lifeline, awake)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.close(awake)
    os.close(wake)


def _watch(child: int, lifeline: int, awake: int) -> NoReturn:
    """Wait until the child or the host ends, and exit with the child's status.

    The host's end shows as a closed lifeline pipe.
    """
    for fd in (0, 1, 2):
        os.close(fd)
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(awake, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if lifeline in ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os._exit(0)
        os.read(awake, 64)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            killed = os.WIFSIGNALED(status)
            os._exit(128 + os.WTERMSIG(status) if killed else os.WEXITSTATUS(status))


def _namespaces(as_root: bool) -> None:
    """Enter new namespaces; root needs no user namespace, which not all systems allow, all others do."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_OTHERS | (0 if as_root else kernel.CLONE_NEWUSER))
    if not as_root:
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def _empty_root() -> None:
    """Make an empty, read-only file system the root."""
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    flags = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("tmpfs", _EMPTY_ROOT, "tmpfs", flags, "size=4k,mode=555")
    os.chroot(_EMPTY_ROOT)
    os.chdir("/")


def _drop_privileges(was_root: bool) -> None:
    if was_root:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        kernel.die_with_parent(signal.SIGKILL)  # a change of user has cleared it
    kernel.drop_capabilities()
    kernel.no_dumps()


def _limits(setup: dict[str, Any]) -> None:
    """Set hard and soft limits alike, so that the kernel kills at once and nothing can be raised again."""
    limit(resource.RLIMIT_AS, setup["memory_mb"] << 20)
    limit(resource.RLIMIT_CPU, setup["cpu_s"])
    # No further descriptors, too; the two pipes stay open.
    for kind in ("NPROC", "FSIZE", "CORE", "MEMLOCK", "NOFILE"):
        limit(getattr(resource, f"RLIMIT_{kind}"), 0)

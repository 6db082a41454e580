"""Each layer of the confinement by itself, and that no worker outlives its host."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spca_sandbox.host import SkillHost
from spca_sandbox.limits import SandboxLevel
from spca_sandbox.process import probe
from spca_sandbox.worker import kernel
from spca_testing.processes import outliving, python
from spca_testing.sandbox import API

REPORT = probe()


def needs(*features: str) -> pytest.MarkDecorator:
    lacking = [f"{f}: {REPORT.features.get(f, 'missing')}" for f in features if REPORT.features.get(f, "x")]
    return pytest.mark.skipif(bool(lacking), reason="; ".join(lacking))


def alone(setup: str, attempt: str) -> str:
    """Run `setup` in a process of its own, then `attempt`; the name of the exception it raised, or `none`."""
    code = (
        "import os, sys, ctypes, signal, resource\n"
        "from spca_sandbox.worker import confine, kernel\n"
        f"{setup}\n"
        f"try:\n    {attempt}\n    said = 'none'\n"
        "except BaseException as error:\n    said = type(error).__name__\n"
        "os.write(1, said.encode())\nos._exit(0)\n"
    )
    return python("-c", code).stdout


LANDLOCK = "kernel.no_new_privileges(); kernel.landlock_deny_all()"
SECCOMP = "kernel.no_new_privileges(); kernel.install_seccomp(kernel.filter_program(os.uname().machine))"
SETUP = "{'memory_mb': 128, 'cpu_s': 1}"
NAMESPACES = "confine._namespaces(os.geteuid() == 0)"


def test_the_attempts_succeed_without_any_layer() -> None:
    for attempt in ("os.open('/etc/passwd', 0)", "os.pipe()", "os.kill(os.getppid(), 0)"):
        assert alone("pass", attempt) == "none"


@needs("landlock")
def test_landlock_denies_files() -> None:
    assert alone(LANDLOCK, "os.open('/etc/passwd', 0)") == "PermissionError"
    assert alone(LANDLOCK, "os.open('/tmp/spca-landlock', os.O_CREAT | os.O_WRONLY)") == "PermissionError"
    assert alone(LANDLOCK, "os.listdir('/')") == "PermissionError"


@needs("seccomp")
@pytest.mark.parametrize("attempt", ["os.open('/', 0)", "os.kill(os.getppid(), 0)", "os.fork()"])
def test_seccomp_denies_calls(attempt: str) -> None:
    assert alone(SECCOMP, attempt) == "PermissionError"


@needs("limits")
def test_limits_hold_and_that_of_processor_time_even_where_signals_are_ignored() -> None:
    limits = f"confine._limits({SETUP})"
    assert alone(limits, "bytearray(1 << 28)") == "MemoryError"
    assert alone(limits, "os.open('/', 0)") == "OSError"
    assert alone(f"{limits}; signal.signal(signal.SIGXCPU, signal.SIG_IGN)", "while True: pass") == ""


@needs("namespaces", "empty root")
def test_the_namespaces_hold_nothing() -> None:
    enter = f"{NAMESPACES}; pid = os.fork()\nif pid: os.waitpid(pid, 0); os._exit(0)\nconfine._empty_root()"
    assert alone(enter, "os.listdir('/').index('proc')") == "ValueError"
    assert alone(enter, "os.open('/x', os.O_CREAT | os.O_WRONLY)") == "OSError"
    assert alone(enter, "assert (os.getpid(), os.getppid()) != (1, 0)") == "AssertionError"


@needs("no privileges")
def test_privileges_are_gone(tmp_path: Path) -> None:
    device = f"os.mknod({str(tmp_path / 'device')!r}, 0o20600, 259)"
    drop = "confine._drop_privileges(os.geteuid() == 0)"
    for attempt in ("os.setuid(0)", "os.chroot('/tmp')", device, "os.nice(-5)"):
        if os.geteuid() == 0 or attempt != "os.setuid(0)":
            assert alone(drop, attempt) in ("PermissionError", "OSError")


def test_the_filter_knows_both_machines_and_no_other() -> None:
    assert len(kernel.filter_program("x86_64")) % 8 == 0
    assert set(kernel.ALLOWED["x86_64"]) == set(kernel.ALLOWED["aarch64"])
    with pytest.raises(OSError, match="no filter for vax"):
        kernel.filter_program("vax")


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def test_closing_leaves_no_process_and_no_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with SkillHost(API) as host:
        assert host.report.level >= SandboxLevel.PROCESS
        family = _family(host.worker.pid)
        assert len(family) == 2
    assert not outliving(family)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_killed_host_takes_its_workers_along() -> None:
    """Also one that is busy: the third time that it is asked whether to go on, it spins."""
    code = (
        "from spca_sandbox.host import SkillHost\n"
        "host = SkillHost()\n"
        "host.load('def spin():\\n    while True: pass')\n"
        "def told():\n    print(host.worker.pid, flush=True)\n"
        "told()\n"
        "next(host.call_many('spin', [[]], 60, told))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for _ in range(3):
            family = _family(int(process.stdout.readline()))
        process.kill()
    assert len(family) == 2 and not outliving(family)

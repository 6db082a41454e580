"""Each layer of the confinement by itself, and that no worker outlives its host."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from spca_sandbox.host import SkillHost
from spca_sandbox.limits import SandboxLevel
from spca_sandbox.process import probe
from spca_sandbox.worker import kernel
from spca_testing.processes import outliving, python
from spca_testing.sandbox import API

REPORT = probe()


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
LIMITS = "confine._limits({'memory_mb': 128, 'cpu_s': 1})"
ROOM = (
    "confine._namespaces(os.geteuid() == 0); pid = os.fork()\n"
    "if pid: os.waitpid(pid, 0); os._exit(0)\nconfine._empty_root()"
)
LAYERS = {
    "nothing": ((), "pass"),
    "landlock": (("landlock",), LANDLOCK),
    "seccomp": (("seccomp",), SECCOMP),
    "limits": (("limits",), LIMITS),
    "namespaces": (("namespaces", "empty root"), ROOM),
    "no privileges": (("no privileges",), "confine._drop_privileges(os.geteuid() == 0)"),
}
"""The features that each layer needs, and how it is set up."""
ATTEMPTS = yaml.safe_load(Path(__file__).with_name("layers.yaml").read_text())


@pytest.mark.parametrize(("layer", "attempt", "ends"), ATTEMPTS)
def test_each_layer_denies_by_itself_what_succeeds_without_any(layer: str, attempt: str, ends: str) -> None:
    lacking = {feature: REPORT.features.get(feature, "missing") for feature in LAYERS[layer][0]}
    if any(lacking.values()) or (attempt == "os.setuid(0)" and os.geteuid() != 0):
        pytest.skip(f"{lacking}")
    assert alone(LAYERS[layer][1], attempt) in ends.split("|")


@pytest.mark.skipif(bool(REPORT.features.get("limits", "missing")), reason="there are no limits here")
def test_processor_time_ends_even_where_signals_are_ignored() -> None:
    assert alone(f"{LIMITS}; signal.signal(signal.SIGXCPU, signal.SIG_IGN)", "while True: pass") == ""


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

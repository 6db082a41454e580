"""Set-up and launcher: what is missing is reported in one line; finished steps are not repeated."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SET_UP = ROOT / "scripts" / "set_up"


def said_by(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program; these variables change what it finds in its environment."""
    there = {**os.environ, **environment}
    return subprocess.run(command, env=there, capture_output=True, text=True, check=False)


def run_in_set_up(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code next to the modules of set-up, with this Python's standard library only."""
    beside = f"import sys; sys.path.insert(0, {str(SET_UP)!r})\n{code}"
    return said_by(sys.executable, "-S", "-c", beside, _ROS_WHEELS_BOOTSTRAP_COMPLETE="1", **environment)


def test_a_missing_python_is_told_in_one_line() -> None:
    done = said_by(ROOT / "bin" / "spca", "--help", SPCA_PYTHON="python-that-is-not-there")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "apt install" in done.stderr


def test_a_missing_compiler_is_named_with_its_remedy() -> None:
    code = (
        "import prerequisites as p\ntry:\n    p.check_compiler()\nexcept p.Missing as lack:\n    print(lack)"
    )
    done = run_in_set_up(f"import os; os.environ.pop('CC', 0)\n{code}", PATH="/nowhere")
    assert "build-essential" in done.stdout and done.stdout.count("\n") == 1, done.stderr


def test_a_second_set_up_has_nothing_to_do() -> None:
    again = said_by(sys.executable, SET_UP)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_set_up_waits_for_another_one(tmp_path: Path) -> None:
    """Two processes want the lock; the second gets it when the first is done."""
    lock, log = tmp_path / "lock", tmp_path / "log"
    code = (
        "import pathlib, time, runpy\n"
        f"main = runpy.run_path({str(SET_UP / '__main__.py')!r}, run_name='set_up')\n"
        f"with main['_locked'](pathlib.Path({str(lock)!r})):\n"
        f"    with open({str(log)!r}, 'a') as f:\n"
        "        f.write('in '); f.flush(); print('in', flush=True); sys.stdin.read(); f.write('out ')\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(SET_UP)!r})\n{code}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as first:
        assert first.stdout is not None and first.stdout.readline() == "in\n"
        with subprocess.Popen(command, text=True, **pipes) as second:
            assert second.stderr is not None and "waiting" in second.stderr.readline()
            assert log.read_text() == "in "
            assert "waiting" not in first.communicate()[1]
            second.communicate()
    assert log.read_text() == "in out in out "


IN_A_CHECKOUT = """
import os, pathlib, sys, environment, places
places.ROOT = environment.ROOT = pathlib.Path({root!r})
places.LINK = environment.LINK = places.ROOT / ".venv"
here = places.Places(ros_sourced=False)
"""


def test_a_package_in_use_is_not_replaced(tmp_path: Path) -> None:
    """A running process from the environment holds off pip only where an installed package would change."""
    code = IN_A_CHECKOUT.format(root=str(tmp_path)) + (
        "import progress\n"
        "info = here.site_packages / 'numpy-1.0.dist-info'\n"
        "info.mkdir(parents=True, exist_ok=True)\n"
        "(info / 'METADATA').write_text('Name: numpy\\nVersion: 1.0\\n')\n"
        "environment.run = lambda title, *_: print(title)\n"
        "lock = places.ROOT / 'lock.txt'\n"
        "for pins in 'numpy==1.0\\nscipy==2.0', 'numpy==2.0':\n"
        "    lock.write_text(pins)\n"
        "    try:\n        environment.install(here, lock, lock)\n"
        "    except progress.StepFailed as failure:\n        print(failure)\n"
    )
    run_in_set_up(code)
    (python := next(tmp_path.glob(".venv-3.*")) / "bin" / "python").parent.mkdir()
    python.symlink_to("/bin/sleep")
    with subprocess.Popen([python, "60"]) as running:
        done = run_in_set_up(code)
        running.kill()
    assert done.stdout.splitlines()[0] == "installing the packages of lock.txt"
    assert "another version of numpy" in done.stdout and f"process {running.pid}" in done.stdout, done.stderr
    assert run_in_set_up(code).stdout.count("installing") == 2


COUNTING = """
import os, pathlib, time
began, root = time.time(), pathlib.Path(__file__).resolve().parents[2]
with (root / "calls").open("a") as calls:
    calls.write("x")
mark = root / ".venv" / ".spca" / "current"
mark.parent.mkdir(parents=True, exist_ok=True)
command = f"env --block-signal=INT {root}/.venv/bin/python"
mark.write_text(f"{root}\\n{command}\\n")
os.utime(mark, (began, began))
print(command)
"""
"""In place of set-up: it counts how often it is called, and leaves the mark that the real one leaves."""


def test_the_launcher_asks_set_up_only_after_a_change(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    inputs = ["scripts/requirements/lock.txt", "scripts/package.py", "src/spca/setup.py"]
    inputs.append("src/spca_interfaces/msg/Verdict.msg")
    for name in (*inputs, "calls", "scripts/set_up/__main__.py", "bin/spca", ".venv/bin/python"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    (checkout / "scripts/set_up/__main__.py").write_text(COUNTING)
    (checkout / "bin/spca").write_text((ROOT / "bin/spca").read_text())
    (checkout / ".venv/bin/python").write_text("#!/bin/sh\n")
    for program in ("bin/spca", ".venv/bin/python"):
        (checkout / program).chmod(0o755)

    def calls(*arguments: str) -> int:
        before = len((checkout / "calls").read_text())
        clean = {name: v for name, v in os.environ.items() if name not in ("SPCA_PYTHON", "ROS_DISTRO")}
        subprocess.run([checkout / "bin/spca", *arguments], env=clean, check=True)
        return len((checkout / "calls").read_text()) - before

    assert (calls("levels"), calls("levels"), calls("test")) == (1, 0, 1)
    for name in inputs:
        (checkout / name).touch()
        assert (calls("levels"), calls("levels")) == (1, 0), name
    (checkout / "src/spca_new").mkdir()
    assert (calls("levels"), calls("levels")) == (1, 0)
    checkout = checkout.rename(tmp_path / "elsewhere")
    assert (calls("levels"), calls("levels")) == (1, 0)


@pytest.mark.skipif(os.environ.get("ROS_DISTRO") == "jazzy", reason="a sourced ROS has no such mark")
def test_the_launcher_starts_no_program_but_the_last(tmp_path: Path) -> None:
    """While bash waits for one, it may lose a Ctrl-C."""
    for name in ("bash", "env"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    clean = {name: value for name, value in os.environ.items() if name != "SPCA_PYTHON"}
    command = [ROOT / "bin" / "spca", "--version"]
    done = subprocess.run(command, env=clean | {"PATH": str(tmp_path)}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_packages_have_hashes_actions_of_ci_commits_and_the_image_a_digest() -> None:
    for lock in (ROOT / "scripts" / "requirements").glob("*lock.txt"):
        pins = re.findall(r"^[\w.-]+.*==.*\n.*", lock.read_text(), re.MULTILINE)
        assert pins and not [pin for pin in pins if "--hash=sha256:" not in pin]
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    used = re.findall(r"uses: (\S+)", "".join(file.read_text() for file in workflows))
    assert used and not [action for action in used if not re.search(r"@[0-9a-f]{40}$", action)]
    stages = re.findall(r"^FROM (\S+) AS (\w+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    bases = {base for base, _ in stages} - {name for _, name in stages}
    assert bases and not [base for base in bases if not re.search(r"@sha256:[0-9a-f]{64}$", base)]

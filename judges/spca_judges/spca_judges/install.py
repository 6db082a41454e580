"""Makes the interpreter of a judge: pinned and hashed packages in a folder of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from spca_core.errors import InputError, SpcaError
from spca_judges.catalogue import Judge


def install(judge: Judge, say: Callable[[str], None]) -> None:
    """Make the folder anew, unless what is there is what the lock names.

    Raises InputError for a judge that needs none, SpcaError where pip fails; a folder that is half made goes.
    """
    if not judge.package:
        raise InputError(f"{judge.title} needs no interpreter of its own", hint=judge.bench)
    if judge.state == "installed":
        say(f"{judge.title} is installed in {judge.folder}")
        return
    if sys.version_info[:2] != (3, 11):
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise InputError(
            f"{judge.title} is pinned for CPython 3.11, this is {version}", hint="run spca with 3.11"
        )
    shutil.rmtree(judge.folder, ignore_errors=True)
    say(f"making {judge.folder}; this takes some minutes and up to 1.3 GB")
    try:
        venv.create(judge.folder, with_pip=True)
        _pip(judge.python, judge.lock)
    except BaseException:
        shutil.rmtree(judge.folder, ignore_errors=True)
        raise
    judge.stamp.write_text(judge.lock.read_text())
    say(f"{judge.title} is installed" + (f"; it draws with {judge.system}" if judge.system else ""))


def _pip(python: Path, lock: Path) -> None:
    command = [
        str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(lock),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if ended.returncode:
        words = " ".join(ended.stderr.strip().splitlines()[-2:])
        raise SpcaError(f"pip could not install {lock.name}: {words[-300:]}")

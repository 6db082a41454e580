"""The files of the container image, as far as they can be checked without a container engine.

They parse, and the files they name exist.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = ROOT / "scripts/docker/compose.yaml"


def test_hadolint_finds_nothing() -> None:
    assert _run("hadolint", "Dockerfile") == ""


def test_shellcheck_finds_nothing() -> None:
    scripts = (".ci/run", "bin/spca", "scripts/docker/entrypoint.sh", "scripts/lock", "scripts/test")
    assert _run("shellcheck", "--exclude=SC1091", *scripts) == "", "(SC1091: what it cannot follow)"


def _run(tool: str, *arguments: str) -> str:
    program = Path(sys.executable).with_name(tool)
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_whoever_runs_in_the_image_may_not_change_the_project_and_is_filtered() -> None:
    """Code by a model that got out of its sandbox would else be the project from then on."""
    runtime = DOCKERFILE[DOCKERFILE.index(" AS runtime") : DOCKERFILE.index(" AS test")]
    assert "USER spca" in runtime and "chown" not in runtime
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    assert not [s for s in services.values() if "seccomp" in "".join(s.get("security_opt", ()))]
    assert [name for name, s in services.items() if s["build"]["target"] != "runtime"] == ["test"]


def test_the_entry_point_imports_no_module_of_the_working_folder(tmp_path: Path) -> None:
    entry = (ROOT / "scripts" / "docker" / "entrypoint.sh").read_text()
    (tmp_path / "spca.py").write_text("open('executed', 'w')")
    (python := tmp_path / ".venv-jazzy" / "bin" / "python").parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    unsourced = re.sub("^source .*$", "", entry, flags=re.MULTILINE).replace("/spca", str(tmp_path))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for words in ([], ["levels", "--help"]):
        command = ["bash", "-c", unsourced, "entry", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert "Usage: spca" in done.stdout, done.stderr
    assert not (tmp_path / "executed").exists()

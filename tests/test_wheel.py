"""The distribution: its wheel, in an environment of its own, runs levels without ROS and a checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "src", "plugins", "research", "testing", "benchmarks", "examples", "levels", "worlds", "launch",
    "scripts/requirements",
)  # fmt: skip
FILES = ("pyproject.toml", "setup.py", "scripts/package.py", "MANIFEST.in", "README.md", "LICENSE")

NOTEBOOK = """
import sys, nbclient, nbformat
import spca_testing.contracts.kit_contract, spca_worldcoder.worlds.minigrid
book = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(book, timeout=240, kernel_name="python3").execute(cwd=".")
for cell in book.cells:
    for output in cell.get("outputs", ()):
        print(list(output.get("data", ())), output.get("data", {}).get("text/plain", ""))
"""


@pytest.mark.slow
def test_the_wheel_runs_levels_and_sentences_without_ros(tmp_path: Path) -> None:
    source, home = tmp_path / "source", tmp_path / "home"
    for folder in FOLDERS:
        unwanted = () if folder == "examples" else ("test",)
        shutil.copytree(
            ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", *unwanted)
        )
    for file in FILES:
        shutil.copy(ROOT / file, source / file)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, source)
    (wheel,) = tmp_path.glob("spca-*.whl")
    _run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    there = Path(_run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    _run(*pip, "--python", python, "install", "--no-deps", "--no-compile", wheel)
    # Its dependencies are this environment's; without ROS, and without the path to the checkout.
    without = tmp_path / "packages"
    without.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if package.suffix != ".pth" and "rclpy" not in package.name and not package.name.startswith("spca"):
            (without / package.name).symlink_to(package)
    (there / "dependencies.pth").write_text(f"{without}\n")
    home.mkdir()
    spca = tmp_path / "venv" / "bin" / "spca"
    assert _run(spca, "--version", cwd=home).split()[0] == "spca"
    assert "seen to hold: the red cube" in _run(spca, "do", "put the red cube on the blue plate", cwd=home)
    assert list(home.glob("runs/*/report.html"))
    assert (home / _run(spca, "new", "environment", "maze", cwd=home).strip() / "test").is_dir()
    notebook = ROOT / "examples" / "notebooks" / "first_run.ipynb"
    shown = _run(python, "-c", NOTEBOOK, notebook, cwd=home)
    assert "success" in shown and shown.count("image/png") == 2
    refused = subprocess.run([spca, "sim"], cwd=home, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "--ros needs ROS 2" in refused.stderr


def _run(*command: object, cwd: Path | None = None) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd or "/tmp")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

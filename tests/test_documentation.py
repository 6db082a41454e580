"""The documentation: the site builds; its snippets and the examples in docstrings run."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spca
from spca.commands.api import page
from spca.kits import kit_named
from spca_core.kinds import MESHES
from spca_core.paths import ROOT

SOURCES = [p for p in ROOT.glob("*/spca*/spca*/**/*.py") if ">>> " in p.read_text()]
LONG_SNIPPETS = ("from_python.py", "session_steps.py")
EXAMPLES = sorted(".".join(p.relative_to(ROOT).with_suffix("").parts[2:]) for p in SOURCES)


def test_the_examples_in_docstrings_are_true() -> None:
    results = {module: doctest.testmod(importlib.import_module(module)) for module in EXAMPLES}
    assert not [module for module, result in results.items() if result.failed]


def test_every_file_that_a_page_names_exists() -> None:
    pages = [page for pattern in ("*.md", "docs/**/*.md", "levels/*.md") for page in ROOT.glob(pattern)]
    named = {(page, name) for page in pages for name in re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text())}
    ours = {(page, name) for page, name in named if (ROOT / name.split("/")[0]).is_dir()}
    made = {"runs", "bench"}  # by commands
    missing = [
        (p.name, n) for p, n in sorted(ours) if n.split("/")[0] not in made and not (ROOT / n).exists()
    ]
    assert len(ours) > 30 and missing == []


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_code_in_pages_is_that_of_tested_files() -> None:
    pages = [page.read_text() for page in ROOT.glob("docs/**/*.md")]
    assert "--8<--" not in "".join(pages) and sum(page.count("\n<!-- examples/") for page in pages) > 20
    command = [sys.executable, str(ROOT / "scripts" / "code_in_pages.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"make it again: {' '.join(command)} --write\n{done.stdout}"


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    """An unresolved reference is an error (not with --quiet), and so is a dead link."""
    build = ["mkdocs", "build", "-f", "scripts/mkdocs.yml", "--strict", "--site-dir", str(tmp_path)]
    command = [sys.executable, "-m", *build]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    dead = [
        f"{page.relative_to(tmp_path)}: {link}"
        for page in tmp_path.rglob("index.html")
        for link in re.findall(r'(?:href|src)="([^":#]+)[#"]', page.read_text())
        if not (page.parent / link).exists()
    ]
    assert dead == []
    page = (tmp_path / "reference" / "python" / "index.html").read_text()
    assert "spca.api.run" in page
    assert "spots_next_to" in (tmp_path / "tutorials" / "skill" / "index.html").read_text()


@pytest.mark.skipif(bool(MESHES), reason="the pages are printed where no kind is installed")
@pytest.mark.parametrize("what", ["tabletop", "minigrid"])
def test_reference_pages_are_printed_from_the_code(what: str) -> None:
    path = ROOT / "docs" / "reference" / f"{what}.md"
    assert path.read_text() == page(kit_named(what)), f"bin/spca api {what} > {path.relative_to(ROOT)}"


def test_the_new_arm_of_the_tutorial_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "arms.md").read_text()
    commands = page.split("```bash\n")[1].split("```")[0]
    here = commands.replace("bin/spca", f"{sys.executable} -m spca").replace("src/", f"{ROOT}/src/")
    script = f"{here.rstrip()} --out {tmp_path / 'run'}"
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "success" in done.stdout, done.stderr


def test_the_level_and_the_world_of_the_tutorials_can_be_done(tmp_path: Path) -> None:
    snippets = ROOT / "docs" / "snippets"
    run = spca.run(str(snippets / "my_level.yaml"), out=tmp_path / "run", report=False)
    assert run.result.success, run.result.reason
    with spca.session(str(snippets / "my_world.yaml"), report=False) as table:
        steps = table.plan("put the red ball into the blue bowl").steps
    assert steps == ("pick_up(ball_red, table)", "place_on(ball_red, bowl_blue)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gymnasium_steps.py", *(pytest.param(name, marks=pytest.mark.full) for name in LONG_SNIPPETS)]
)
def test_snippets_run(name: str, tmp_path: Path) -> None:
    _ran((ROOT / "docs" / "snippets" / name).read_text(), tmp_path)


@pytest.mark.slow
def test_python_in_the_readme_runs_as_a_script(tmp_path: Path) -> None:
    """Without a guard, and once: campaigns run in processes of their own. Two tables show that as four do."""
    [block] = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    said = _ran(block.replace("tables=4", "tables=2") + "\nprint('ended')\n", tmp_path)
    assert "spca.campaign(" in block and said.count("ended") == 1 and said.rstrip().endswith("1.0\nended")


def _ran(script: str, folder: Path) -> str:
    """What a script prints; its runs stay in the folder."""
    (path := folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "SPCA_ROOT": str(_checkout(folder))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.strip() and "Traceback" not in done.stderr, done.stderr
    return done.stdout


def _checkout(folder: Path) -> Path:
    """A checkout of links, so that the runs of a snippet stay in the test's folder."""
    for name in ("worlds", "levels", "launch"):
        if (ROOT / name).is_dir():
            (folder / name).symlink_to(ROOT / name)
    return folder


def test_the_page_of_measurements_is_made_from_the_records() -> None:
    made = subprocess.run(
        [sys.executable, "-c", "import measurements; print('\\n'.join(measurements.lines()), end='')"],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")},
        capture_output=True,
        text=True,
        check=True,
    )
    page = (ROOT / "docs" / "measurements.md").read_text()
    assert page == made.stdout, "make it again: .venv/bin/python benchmarks/measurements.py page"


def test_whatever_the_page_on_security_promises_has_its_tests() -> None:
    """Each row names files of tests, and may name words of tests in the last one named."""
    table = (ROOT / "docs" / "security.md").read_text().split("## What holds")[1].split("\n## ")[0]
    rows = [row.rsplit("|", 2)[1] for row in table.splitlines() if row.startswith("| ")][1:]
    tests = [
        path
        for wing in ("src", "plugins", "research", "benchmarks", "tests")
        for path in (ROOT / wing).rglob("test_*.py")
    ]
    assert len(rows) > 30
    for held_by in rows:
        names, found = [], False
        for word in re.findall(r"`([^`]+)`", held_by):
            if word.endswith(".py"):
                [file] = [path for path in tests if str(path).endswith(f"/{word}")]
                tree = ast.parse(file.read_text())
                names = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
                found = True
            elif names and not word.startswith("--"):
                assert any(word in name for name in names), (word, held_by)
        assert found, held_by

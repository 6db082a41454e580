"""The packages and their dependencies agree with the import linter and with the architecture page."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from importlinter.cli import lint_imports

from spca_core.paths import ROOT
from spca_core.relation import relations

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
LINTER = CONFIGURATION["importlinter"]
LAYERS = [{name.strip() for name in layer.split("|")} for layer in LINTER["contracts"][0]["layers"]]


def test_arrows_point_one_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A circle, or a dependency that points up, fails here and is named in the output."""
    monkeypatch.chdir(ROOT)
    assert lint_imports(cache_dir=str(tmp_path)) == 0


def test_the_linter_knows_every_package() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/spca*/setup.py")}
    assert set(LINTER["root_packages"]) == packages == set().union(*LAYERS)


def test_the_architecture_page_shows_the_same_layers() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("## Packages")[1].split("\n## ")[0]
    rows = [
        set(re.findall(r"`(spca\w*)`", row.split("|")[2]))
        for row in table.splitlines()
        if row.startswith("|") and "`" in row
    ]
    assert rows == LAYERS


def test_entry_points_of_the_stack_stay_in_the_stack() -> None:
    """An entry point is an import in the form of a string, which the import linter does not see."""
    stack = {path.name for path in (ROOT / "src").iterdir()}
    targets = {
        target.split(".")[0]
        for setup in (ROOT / "src").glob("*/setup.py")
        for target in re.findall(r'= ?"?(spca\w*[\w.]*):\w', setup.read_text())
    }
    assert targets and targets <= stack


def test_the_project_keeps_within_its_limits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What grows needs room elsewhere: the limits stand in pyproject.toml."""
    limits = CONFIGURATION["spca"]["limits"]
    there = {wing: _lines(ROOT / wing) for wing in limits if (ROOT / wing).is_dir()}
    there["protocols"] = sum(
        any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)
        for _, node in _nodes("src")
        if isinstance(node, ast.ClassDef)
    )
    there["modules"] = len(_loaded_by("run", "touch_02", "--no-video", "--out", str(tmp_path / "run")))
    with capsys.disabled():
        print("", *(f"{name}: {count} of {limits[name]}" for name, count in there.items()), sep="\n  ")
    assert there.keys() == limits.keys()
    grown = {name: count for name, count in there.items() if count > limits[name]}
    assert not grown, "make room, or lower what else has become smaller: [tool.spca.limits] of pyproject.toml"


def _code(folder: Path) -> list[Path]:
    """Shipped files of code: no tests, and no data: arms, words of task texts."""
    kinds = {".py", ".j2", ".js", ".yaml", ".cpp", ".hpp"}
    files = [path for path in folder.glob("*/**/*") if path.suffix in kinds]
    return [path for path in files if not {"test", "arms", "words.yaml"} & {*path.relative_to(folder).parts}]


def _lines(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in _code(folder))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    """The modules of folders of the checkout, but for tests."""
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            if not {"test", "build", "setup.py"} & {*path.parts}:
                yield path.relative_to(ROOT), _tree(path)


def _nodes(*folders: str) -> Iterator[tuple[str, Any]]:
    """Every node of these modules, with `file:line`."""
    for path, tree in _trees(*folders):
        yield from ((f"{path}:{getattr(node, 'lineno', 0)}", node) for node in ast.walk(tree))


def _loaded_by(*arguments: str) -> list[str]:
    """The modules of ours that a command has loaded when it ends."""
    code = (
        "import sys; from spca.cli import main; sys.argv[0] = 'spca'\n"
        "try: main()\n"
        "except SystemExit as ended: assert not ended.code, ended.code\n"
        "print('loaded:', *(name for name in sys.modules if name.split('_')[0].split('.')[0] == 'spca'))"
    )
    command = [sys.executable, "-c", code, *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return said.partition("loaded:")[2].split()


def test_a_relation_is_known_by_its_row_alone() -> None:
    """What plans, looks and acts spells no name of one; `at` is what PDDL calls all that is at a place."""
    names = {row.name for row in relations()} - {"at"}
    loop = ("spca_planner", "spca/spca/rehearsal", "spca_sandbox", "spca_sense", "spca_tabletop")
    folders = [f"src/{package}" for package in (*loop, "spca_sim", "spca_robot")]
    assert not [at for at, node in _nodes(*folders) if isinstance(node, ast.Constant) and node.value in names]


def test_no_level_is_known_by_name_below_the_command_line() -> None:
    """What serves one level only has no place in the stack; `spca` has examples and defaults."""
    levels = {path.stem for path in (ROOT / "levels").rglob("*_[0-9][0-9].yaml")}
    below = [str(path.relative_to(ROOT)) for path in (ROOT / "src").glob("spca_*")]
    constants = ((at, node.value) for at, node in _nodes(*below) if isinstance(node, ast.Constant))
    assert levels and not [(at, text) for at, text in constants if isinstance(text, str) and text in levels]

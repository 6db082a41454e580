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

from spca_core.kinds import KINDS
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


def test_every_import_of_the_project_is_of_a_module_that_exists() -> None:
    """Also those within functions: mypy passes over modules that it cannot find."""
    modules = ROOT.glob("*/spca*/**/*.py")
    files = [ROOT / "scripts/package.py", *(p for p in modules if "spca_interfaces" not in p.parts)]
    named = {
        node.module: path
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and re.match(r"spca(?!_interfaces)", node.module or "")
    }
    there = {str(p.with_suffix("")).removesuffix("/__init__").replace("/", ".") for p in files}
    missing = {m: p for m, p in named.items() if not any(name.endswith(f".{m}") for name in there)}
    assert len(named) > 300 and not missing


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


def test_what_follows_from_another_number_is_not_written_again() -> None:
    """Names of modules and classes in Sense and the tabletop with a number of their own: not 0, 1, 2, 0.5."""
    nodes = (node for _, node in _nodes("src/spca_sense", "src/spca_tabletop"))
    rows = (row for node in nodes if isinstance(node, ast.Module | ast.ClassDef) for row in node.body)
    named = 0
    for row in (row for row in rows if isinstance(row, ast.Assign | ast.AnnAssign) and row.value):
        several = isinstance(row, ast.Assign) and isinstance(row.targets[0], ast.Tuple)
        for value in row.value.elts if several and isinstance(row.value, ast.Tuple) else [row.value]:
            numbers = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
            named += any(type(n) in (int, float) and n not in (0, 1, 2, 0.5) for n in numbers)
    assert named <= 200


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


NAMED_KINDS = {
    "src/spca_tabletop/spca_tabletop/act/skills.py": "a skill, which models see, is told names alone",
}
"""Files that compare a thing's kind with a name, each with the reason."""


def test_a_kind_is_known_by_what_its_row_says() -> None:
    """What looks, plans, acts and simulates asks for an ability of a row, not for the name of a kind."""
    packages = ("src/spca_tabletop", "src/spca_sense", "src/spca_sim", "src/spca_robot")
    found = {
        at.partition(":")[0]
        for at, node in _nodes(*packages)
        if "/language/" not in at
        and any(name.value in KINDS for asked in _asked_for_kinds(node) for name in _texts(asked))
    }
    assert found == NAMED_KINDS.keys()


def _asked_for_kinds(node: ast.AST) -> list[ast.expr]:
    """Return what a kind is compared with, or chosen by, in one expression."""
    if isinstance(node, ast.Compare) and "kind" in ast.unparse(node.left):
        return node.comparators
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("of_kind"):
        return node.args
    return []


def _texts(node: ast.AST) -> list[ast.Constant]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def test_a_noun_of_a_kind_stands_once() -> None:
    """What a thing may be called stands in its kind's row; the grammar adds classes and an odd plural."""
    nouns = {noun for kind in KINDS.values() for noun in kind.nouns} - {*KINDS, "block", "thing", "die"}
    tabletop = "src/spca_tabletop/spca_tabletop"
    folders = (f"{tabletop}/language", f"{tabletop}/plan", "src/spca_sense")
    found = [at for at, node in _nodes(*folders) if isinstance(node, ast.Constant) and node.value in nouns]
    assert len(nouns) > 10 and not found


def test_no_untyped_field_of_a_record_is_read_by_another_package() -> None:
    """A `dict[str, Any]` is for who wrote it; what joins two packages has fields.

    The worlds of research read the details of their own cases.
    """
    trees = dict(_trees("src", "plugins", "judges", "testing", "benchmarks"))
    fields = {
        (path.parts[1], field.target.id)
        for path, tree in trees.items()
        for record in ast.walk(tree)
        if isinstance(record, ast.ClassDef) and not record.name.startswith("_")
        for field in record.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        and "dict[str, Any]" in ast.unparse(field.annotation)
    }  # fmt: skip
    read = []
    for path, tree in trees.items():
        package, nodes = path.parts[1], list(ast.walk(tree))
        imported = {(n.module or "").split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
        foreign = {name for home, name in fields if home != package and home in imported}
        for node in nodes:
            of = node.value if isinstance(node, ast.Subscript) else None
            if isinstance(node, ast.Attribute) and node.attr in ("get", "items", "keys", "values", "pop"):
                of = node.value
            if isinstance(of, ast.Attribute) and of.attr in foreign:
                read.append(f"{path}:{of.lineno}: {ast.unparse(node)}")
    assert ("spca_core", "detail") in fields and not read


def test_no_level_is_known_by_name_below_the_command_line() -> None:
    """What serves one level only has no place in the stack; `spca` has examples and defaults."""
    levels = {path.stem for path in (ROOT / "levels").rglob("*_[0-9][0-9].yaml")}
    below = [str(path.relative_to(ROOT)) for path in (ROOT / "src").glob("spca_*")]
    constants = ((at, node.value) for at, node in _nodes(*below) if isinstance(node, ast.Constant))
    assert levels and not [(at, text) for at, text in constants if isinstance(text, str) and text in levels]

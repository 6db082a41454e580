"""The packages and their dependencies agree with the import linter and with the architecture page."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

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
        for path in _code(ROOT / "src")
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text()))
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
    files = [path for name in ("sense", "tabletop") for path in _code(ROOT / "src" / f"spca_{name}")]
    nodes = (node for path in files if path.suffix == ".py" for node in ast.walk(ast.parse(path.read_text())))
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


def test_a_run_without_a_model_loads_neither_research_nor_what_speaks_to_a_server() -> None:
    """`spca run` starts as quickly, and stands as firmly, without the systems of the papers."""
    code = "import sys, spca.api, spca.run_command, spca.kits, spca.proposals; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    research = {path.parent.name for path in (ROOT / "research").glob("*/setup.py")}
    assert research and not (research | {"httpx2"}) & {name.split(".")[0] for name in loaded.split()}


def test_a_name_means_one_class_in_the_stack() -> None:
    """Apart from the records that skills see on `ctx`, which are named for whoever writes a skill."""
    defined: dict[str, list[str]] = {}
    for path in (ROOT / "src").glob("*/spca*/**/*.py"):
        if path.name == "skill_context.py" or "worker" in path.parts or "test" in path.parts:
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in defined.items() if len(paths) > 1} == {}


def test_a_relation_is_known_by_its_row_alone() -> None:
    """What plans, looks and acts spells no name of one; `at` is what PDDL calls all that is at a place."""
    names = {row.name for row in relations()} - {"at"}
    loop = ("spca_planner", "spca/spca/rehearsal", "spca_sandbox", "spca_sense", "spca_tabletop")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in (*loop, "spca_sim", "spca_robot")
        for path in (ROOT / "src" / package).rglob("*.py")
        if "test" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert not found


NAMED_KINDS = {
    "spca_tabletop/spca_tabletop/act/skills.py": "a skill, which models see, is told names alone",
}
"""Files that compare a thing's kind with a name, each with the reason."""


def test_a_kind_is_known_by_what_its_row_says() -> None:
    """What looks, plans, acts and simulates asks for an ability of a row, not for the name of a kind."""
    found: dict[str, list[str]] = {}
    for package in ("spca_tabletop", "spca_sense", "spca_sim", "spca_robot"):
        for path in (ROOT / "src" / package).rglob("*.py"):
            if {"test", "language"} & {*path.parts}:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if any(name.value in KINDS for asked in _asked_for_kinds(node) for name in _texts(asked)):
                    where = str(path.relative_to(ROOT / "src"))
                    found.setdefault(where, []).append(f"line {node.lineno}: {ast.unparse(node)}")
    assert {where: lines for where, lines in found.items() if where not in NAMED_KINDS} == {}
    assert found.keys() == NAMED_KINDS.keys()


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
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}": node.value
        for package in (
            "spca_tabletop/spca_tabletop/language",
            "spca_tabletop/spca_tabletop/plan",
            "spca_sense",
        )
        for path in (ROOT / "src" / package).rglob("*.py")
        if "test" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in nouns
    }
    assert len(nouns) > 10 and not found


def test_a_public_number_of_the_stack_has_one_name_and_one_home() -> None:
    """A tolerance, period or limit that others may import is defined once."""
    homes: dict[str, list[str]] = {}
    for path in (ROOT / "src").glob("*/spca*/**/*.py"):
        if "test" in path.parts:
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for name in (t.id for t in node.targets if isinstance(t, ast.Name) and t.id.isupper()):
                    if isinstance(node.value.value, (int, float)) and not name.startswith("_"):
                        homes.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert len(homes) > 50 and {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_untyped_field_of_a_record_is_read_by_another_package() -> None:
    """A `dict[str, Any]` is for who wrote it; what joins two packages has fields.

    The worlds of research read the details of their own cases.
    """
    trees = {
        path: ast.parse(path.read_text())
        for path in ROOT.glob("*/spca*/spca*/**/*.py")
        if not {"test", "research"} & {*path.relative_to(ROOT).parts}
    }
    fields = {
        (path.relative_to(ROOT).parts[1], field.target.id)
        for path, tree in trees.items()
        for record in ast.walk(tree)
        if isinstance(record, ast.ClassDef) and not record.name.startswith("_")
        for field in record.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        and "dict[str, Any]" in ast.unparse(field.annotation)
    }  # fmt: skip
    read = []
    for path, tree in trees.items():
        package, nodes = path.relative_to(ROOT).parts[1], list(ast.walk(tree))
        imported = {(n.module or "").split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
        foreign = {name for home, name in fields if home != package and home in imported}
        for node in nodes:
            of = node.value if isinstance(node, ast.Subscript) else None
            if isinstance(node, ast.Attribute) and node.attr in ("get", "items", "keys", "values", "pop"):
                of = node.value
            if isinstance(of, ast.Attribute) and of.attr in foreign:
                read.append(f"{path.relative_to(ROOT)}:{of.lineno}: {ast.unparse(node)}")
    assert ("spca_core", "detail") in fields and not read


def test_no_level_is_known_by_name_below_the_command_line() -> None:
    """What serves one level only has no place in the stack; `spca` has examples and defaults."""
    levels = {path.stem for path in (ROOT / "levels").rglob("*_[0-9][0-9].yaml")}
    known = {
        f"{path.relative_to(ROOT)}:{node.lineno}": node.value
        for path in (ROOT / "src").glob("spca_*/spca_*/**/*.py")
        if "test" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in levels
    }
    assert levels and not known

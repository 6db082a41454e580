"""Break every default of the launch files, and all that they pass on, once; the tests must notice each.

    SPCA_ROS2_LAUNCH=… python scripts/break_launch_files.py            all breaks, some seconds each
    SPCA_ROS2_LAUNCH=… python scripts/break_launch_files.py rate       those whose description has that word

A break is one small edit of a copy: another default, an argument that is not declared, an entry of a
dictionary or an element of a list left out, a keyword argument left out, a default behind `or` left out, a
condition turned round. The table says what was noticed; the exit status is 1 if a break was not.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "test_launch_files.py"
PATIENCE = "20"
"""Seconds that the stand-ins of a launch wait for each other."""
LIMIT_S = 300
"""For all tests with one break; without a break they take 20 s of a quiet machine."""
UNSEEN = {
    *(
        "name",
        "output",
        "description",
        "reason",
        "msg",
        "sigterm_timeout",
        "sigkill_timeout",
        "ignore_errors",
    ),
    *("package", "executable", "function", "event", "target_action", "prefix"),
}
"""Keyword arguments that are not left out: words for people, and those without which nothing can start."""


@dataclass(frozen=True)
class Break:
    """One edit of a launch file: what is said about it, and the text that it makes."""

    file: Path
    line: int
    what: str
    text: str


def breaks(file: Path) -> Iterator[Break]:
    """All breaks of a file."""
    text = file.read_text()
    tree = ast.parse(text)
    table = next(
        (n.value for n in tree.body if isinstance(n, ast.Assign) and _is_table(n)), ast.Tuple(elts=[])
    )
    for start, end, new, what in (*_of_a_table(table), *_of_a_tree(tree, without=table)):
        yield Break(file, start[0], what, text[: offset(text, *start)] + new + text[offset(text, *end) :])


Place = tuple[int, int]
Edit = tuple[Place, Place, str, str]


def _is_table(assignment: ast.Assign) -> bool:
    return ast.unparse(assignment.targets[0]) == "ARGUMENTS"


def _of_a_table(table: ast.expr) -> Iterator[Edit]:
    """Break a table of arguments: name, default, choices, words."""
    assert isinstance(table, ast.Tuple)
    for entry in (e for e in table.elts if isinstance(e, ast.Tuple)):
        yield from default(*entry.elts[:3])
        yield *left_out(entry), f"{ast.unparse(entry.elts[0])} is not declared"


def _of_a_tree(tree: ast.Module, without: ast.expr) -> Iterator[Edit]:
    apart = [without, *(n for n in ast.walk(tree) if isinstance(n, ast.Subscript))]
    left = {id(node) for part in apart for node in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) not in left:
            yield from _of_what_is_said(node)
            yield from _of_what_decides(node)


def _of_what_is_said(node: ast.AST) -> Iterator[Edit]:
    """Leave out what is passed on: entries, elements, keyword arguments; change what is declared."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield begin(key), finish(value), "**{}", f"entry {ast.unparse(key)}: left out"
    elif isinstance(node, ast.List) and len(node.elts) > 1:
        for element in node.elts:
            yield *left_out(element), f"element {ast.unparse(element)[:40]} left out"
    elif isinstance(node, ast.Call):
        given = {keyword.arg: keyword for keyword in node.keywords}
        if "default_value" in given:
            choices = given["choices"].value if "choices" in given else ast.Constant(None)
            yield from default(node.args[0], given["default_value"].value, choices)
            return
        for name in given.keys() - UNSEEN - {None}:
            yield begin(given[name]), finish(given[name]), "**{}", f"argument {name}= left out"


def _of_what_decides(node: ast.AST) -> Iterator[Edit]:
    """Leave out defaults behind `or`, turn conditions round."""
    if (
        isinstance(node, ast.BoolOp)
        and isinstance(node.op, ast.Or)
        and isinstance(node.values[-1], ast.Constant)
    ):
        yield begin(node), finish(node), ast.unparse(node.values[0]), f"{ast.unparse(node)}: default left out"
    elif isinstance(node, ast.If | ast.IfExp):
        said = ast.unparse(node.test)
        yield begin(node.test), finish(node.test), f"(not ({said}))", f"if {said}: turned round"


def default(name: ast.expr, value: ast.expr, choices: ast.expr) -> Iterator[Edit]:
    """Other defaults of a declared argument: of no sense, empty, and another that would be accepted."""
    if not isinstance(name, ast.Constant) or not isinstance(value, ast.Constant):
        return
    others = ["broken", ""]
    if isinstance(choices, ast.List):
        allowed = [c.value for c in choices.elts if isinstance(c, ast.Constant)]
        others.append(str(next(c for c in allowed if c != value.value)))
    elif str(value.value).replace(".", "").isdigit():
        others.append("3")
    for other in others:
        if other != value.value:
            yield begin(value), finish(value), repr(other), f"default of {name.value}: {other!r}"


def left_out(element: ast.AST) -> tuple[Place, Place, str]:
    """An element of a sequence is left out, by an empty one in its place."""
    return begin(element), finish(element), "*()"


def begin(node: ast.AST) -> Place:
    """Where a node begins: line, and bytes into it."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def finish(node: ast.AST) -> Place:
    """Where a node ends."""
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def offset(text: str, line: int, column: int) -> int:
    """A place in a text, as a number of characters."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def noticed(broken: Break) -> str:
    """The test that fails with a break; "" if none does."""
    with tempfile.TemporaryDirectory(prefix="spca_launch_") as folder:
        for file in broken.file.parent.glob("*.launch.py"):
            (Path(folder) / file.name).write_text(file.read_text())
        (Path(folder) / broken.file.name).write_text(broken.text)
        command = [
            sys.executable,
            "-m",
            "pytest",
            str(TESTS),
            "-x",
            "-q",
            "--full",
            "--no-header",
            "-p",
            "no:cacheprovider",
        ]
        try:
            done = subprocess.run(
                command,
                env={**os.environ, "SPCA_LAUNCH_FILES": folder, "SPCA_LAUNCH_PATIENCE": PATIENCE},
                capture_output=True,
                text=True,
                check=False,
                cwd=ROOT,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return f"no end within {LIMIT_S} s"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return failed[0].split("::")[-1][:100] if failed else f"pytest ended with {done.returncode}"


def main(words: list[str]) -> int:
    """Make every break, print the table."""
    if "SPCA_ROS2_LAUNCH" not in os.environ:
        print("SPCA_ROS2_LAUNCH names no folder with ROS 2's launch, so that no launch file can be run")
        return 2
    every = [b for file in sorted((ROOT / "launch").glob("*.launch.py")) for b in breaks(file)]
    chosen = [b for b in every if all(word in f"{b.file.name} {b.what}" for word in words)]
    untouched = Break(chosen[0].file, 0, "nothing", chosen[0].file.read_text()) if chosen else None
    if untouched is not None and (by := noticed(untouched)):
        print(f"the tests fail without a break, too: {by}")
        return 2
    survived = 0
    print("| file | line | break | noticed by |\n|---|---|---|---|")
    for broken in chosen:
        by = noticed(broken)
        survived += not by
        print(f"| {broken.file.name} | {broken.line} | {broken.what} | {by or '**nothing**'} |", flush=True)
    print(f"\n{len(chosen)} breaks, {survived} not noticed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Where the checkout is found: SPCA_ROOT, above the file, above the working folder."""

import os
import shutil
from pathlib import Path

import pytest

import spca_core.paths
from spca_testing.processes import python


@pytest.mark.parametrize(
    ("checkouts", "site", "working", "given", "found"),
    [
        ("checkout other", "checkout/src/spca_core", "other", None, "checkout"),  # the file's comes first
        ("checkout", "install", "checkout/src/deep", None, "checkout"),  # of what is installed elsewhere
        ("checkout", "checkout/src", "", "{folder}/mine", "mine"),  # also where nothing is yet
        ("", "install", "", None, ""),
    ],
)
def test_where_the_checkout_is(
    checkouts: str, site: str, working: str, given: str | None, found: str, tmp_path: Path
) -> None:
    for name in checkouts.split():
        (tmp_path / name / "worlds").mkdir(parents=True)
        (tmp_path / name / "levels").mkdir()
    (tmp_path / working).mkdir(parents=True, exist_ok=True)
    package = tmp_path / site / "spca_core"
    package.mkdir(parents=True)
    for name in ("__init__.py", "paths.py"):  # a copy, so that it is imported from there
        shutil.copy(Path(spca_core.paths.__file__).parent / name, package)
    env = {k: v for k, v in os.environ.items() if k not in ("SPCA_ROOT", "AMENT_PREFIX_PATH")}
    env |= {"PYTHONPATH": str(tmp_path / site)}
    env |= {} if given is None else {"SPCA_ROOT": given.format(folder=tmp_path)}
    told = python("-c", "from spca_core.paths import ROOT; print(ROOT)", cwd=tmp_path / working, env=env)
    assert Path(told.stdout.strip()) == tmp_path / found

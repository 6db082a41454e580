"""Where the checkout is found: SPCA_ROOT, above the file, above the working folder.

Each case in a process of its own.
"""

import os
import shutil
from pathlib import Path

import pytest

import spca_core.paths
from spca_testing.processes import python

NAMES = ("CHECKOUT", "ROOT", "WORLDS", "LEVELS", "RUNS", "LIBRARY")
PRINT = "from spca_core import paths as p; "
PRINT += f"print(*(getattr(p, n) for n in {NAMES}), p.state_folder(), p.__file__, sep='\\n')"


def checkout(folder: Path) -> Path:
    (folder / "worlds").mkdir(parents=True)
    (folder / "levels").mkdir()
    return folder


def installed(folder: Path) -> Path:
    """The module alone, under `folder`; to be put on the path."""
    package = folder / "spca_core"
    package.mkdir(parents=True)
    for name in ("__init__.py", "paths.py"):
        shutil.copy(Path(spca_core.paths.__file__).parent / name, package)
    return folder


def paths(site: Path, working: Path, root: str | None = None, **variables: str) -> dict[str, Path]:
    """The module's constants when imported from `site` in the folder `working`."""
    env = {k: v for k, v in os.environ.items() if k not in ("SPCA_ROOT", "AMENT_PREFIX_PATH")}
    env |= {"PYTHONPATH": str(site)} | ({} if root is None else {"SPCA_ROOT": root}) | variables
    *found, file = map(Path, python("-c", PRINT, cwd=working, env=env).stdout.splitlines())
    assert file == site / "spca_core" / "paths.py", "the copy under test, not this checkout's"
    return dict(zip((*NAMES, "STATE"), found, strict=True))


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
        checkout(tmp_path / name)
    (tmp_path / working).mkdir(parents=True, exist_ok=True)
    root = None if given is None else given.format(folder=tmp_path)
    assert paths(installed(tmp_path / site), tmp_path / working, root)["ROOT"] == (tmp_path / found)


def test_an_install_without_a_checkout_has_its_own_data(tmp_path: Path) -> None:
    prefix = tmp_path / "install"
    site = installed(prefix / "lib" / "python3" / "site-packages")
    (prefix / "share" / "spca_core" / "worlds").mkdir(parents=True)
    work = tmp_path / "work"
    work.mkdir()
    found = paths(site, work, XDG_STATE_HOME=str(tmp_path / "state"))
    assert found["WORLDS"] == prefix / "share" / "spca_core" / "worlds"
    assert found["LEVELS"] == prefix / "share" / "spca_core" / "levels"
    assert found["RUNS"] == work / "runs", "what a user makes goes to the working folder"
    assert found["STATE"] == tmp_path / "state" / "spca"
    assert str(found["CHECKOUT"]) == "None"

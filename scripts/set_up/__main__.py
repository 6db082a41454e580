"""Sets the project up inside its checkout: `python scripts/set_up [--test]`. Uses the standard library only.

Each step leaves a stamp when it is complete, so that an interrupted set-up goes on where it was, and one with
nothing to do costs a few milliseconds.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import interfaces
import prerequisites
import ros_wheels
import stamps
from places import ROOT, Places, here
from progress import StepFailed

Step = tuple[str, str, Callable[[], None]]  # its name, the digest of what it depends on, what it does
BAD_INPUT, BROKEN, INTERRUPTED = 2, 3, 130


def main() -> int:
    """Set up what is not set up yet; returns the exit status."""
    parser = argparse.ArgumentParser(prog="set_up", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--test", action="store_true", help="also install what the test suite needs")
    parser.add_argument("--own", action="store_true", help="with --test: that of a package of one's own")
    parser.add_argument("--ros", action="store_true", help="also set up the ROS transport")
    parser.add_argument(
        "--print-command", action="store_true", help="print what starts the environment's interpreter"
    )
    arguments = parser.parse_args()
    try:
        prerequisites.check()
        places = here()
        if ros := arguments.ros or (arguments.test and not arguments.own) or wants_ros(places):
            prerequisites.check_compiler()
        set_up(places, arguments.test, ros)
    except prerequisites.Missing as lack:
        print(f"spca: {lack}", file=sys.stderr)
        return BAD_INPUT
    except StepFailed as failure:
        print(f"spca: {failure}", file=sys.stderr)
        return BROKEN
    except OSError as error:
        what = f"{error.strerror or error} ({error.filename or ROOT})"
        print(
            f"spca: cannot set up in {ROOT}: {what}; it has to be a folder you can write to", file=sys.stderr
        )
        return BROKEN
    except KeyboardInterrupt:
        print("\nspca: set-up interrupted; the next start goes on from here", file=sys.stderr)
        return INTERRUPTED
    if arguments.print_command:
        print(_command(places))
    return 0


def wants_ros(places: Places) -> bool:
    """Whether this environment has the ROS transport already, or is for a sourced ROS."""
    return places.ros_sourced or (places.stamps / "interfaces").exists()


def set_up(places: Places, with_tests: bool, with_ros: bool) -> None:
    """Run every step whose stamp is missing or out of date."""
    began = time.time()
    if _pending(places, with_tests, with_ros):
        with _locked(places.lock_file):
            started = time.monotonic()
            if todo := _pending(places, with_tests, with_ros):
                print("spca: setting up (once; a few minutes at most)", file=sys.stderr)
            for name, digest, action in todo:
                (places.stamps / name).unlink(missing_ok=True)
                action()
                places.stamps.mkdir(parents=True, exist_ok=True)
                (places.stamps / name).write_text(digest)
            environment.link(places)
            if todo:
                print(f"spca: set up in {time.monotonic() - started:.0f} s", file=sys.stderr)
    environment.put_sources_on_path(places)
    if places.default and not places.ros_sourced:  # `bin/spca` looks at it, to start more quickly
        mark = places.stamps / "current"
        mark.write_text(f"{ROOT}\n{_command(places)}\n")
        os.utime(mark, (began, began))


def _command(places: Places) -> str:
    """The words that start the environment's interpreter, with Ctrl-C held off where `env` can do that."""
    hold = "env --block-signal=INT "
    held = subprocess.run([*hold.split(), "true"], capture_output=True, check=False).returncode == 0
    return f"{hold if held else ''}{places.python}"


def _pending(places: Places, with_tests: bool, with_ros: bool) -> list[Step]:
    """The steps that have still to be done, each with the digest of what it depends on."""
    log = places.stamps / "setup.log"
    packages = stamps.packages()
    steps: list[Step] = [
        ("venv", stamps.digest([], sys.version), lambda: environment.create(places, log)),
        ("packages", packages, lambda: environment.install(places, environment.RUNTIME_LOCK, log))
        if with_ros
        else ("core-packages", packages, lambda: environment.install_core(places, log)),
    ]
    if with_tests:
        tests = stamps.digest([environment.RUNTIME_LOCK, environment.TEST_LOCK], sys.version)
        steps.append(
            ("test-packages", tests, lambda: environment.install(places, environment.TEST_LOCK, log))
        )
    if with_ros and not places.ros_sourced:
        steps.append(("relocated", packages, lambda: ros_wheels.relocate(places)))
    described = stamps.digest(environment.setups(), sys.version)
    steps.append(("described", described, lambda: environment.write_metadata(places, log)))
    if not with_ros:
        return _undone(places, steps)
    elsewhere = () if places.ros_sourced or places.default else (str(places.colcon("install")),)
    built = stamps.digest(interfaces.sources(), sys.version, *interfaces.built_against(), *elsewhere)
    steps.append(("interfaces", built, lambda: interfaces.build(places, log)))
    return _undone(places, steps)


def _undone(places: Places, steps: list[Step]) -> list[Step]:
    return [step for step in steps if not stamps.valid(places, step[0], step[1])]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file; a second set-up waits for the first and then finds nothing to do."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("spca: another set-up is running; waiting for it", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())

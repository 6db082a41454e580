"""Do the same for long in one process, and measure what it keeps.

.venv/bin/python benchmarks/soak.py sentences --count 1000
.venv/bin/python benchmarks/soak.py runs --count 200 --transport ros

Sentences are said in one session; runs are of one level, one after the other. Wrong, and the exit status 1,
is memory in use that grows by more than `--most-kb` an item after the first third, and a descriptor, thread,
child or file in /dev/shm more at the end than after the first third. Of those files, only the ones count
that the process or a child has mapped at some event and no other program holds: others work there, too.

In use is what has been allocated and not freed, by Python or by a library, as malloc counts it: the process
starts anew with `PYTHONMALLOC=malloc`, so that it counts Python's objects, too. Resident memory is shown and
decides nothing: between two sentences, malloc and Python keep 10 to 50 MB of what was freed, more or less as
pictures came and went, and a slope over that was 32 to 101 kB a sentence where 1 kB was in use.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated

import numpy as np
import psutil
import typer
from rich.console import Console
from rich.table import Table

import spca
from spca.ros import require_ros
from spca_core.run_folder import RunFolder

SHARED = Path("/dev/shm")
COUNTED = ("descriptors", "threads", "children", "shared memory")
SENTENCES = (
    "Put the red cube on the blue plate.",
    "Where is the green cube?",
    "Put the red cube on the table.",
    "Touch the blue cube.",
    "Dance with the yellow banana.",
)
"""Done, answered, undone, a touch, and one that nobody can."""

app = typer.Typer(help=__doc__, add_completion=False)
Count = Annotated[int, typer.Option(min=6, help="Items.")]
Most = Annotated[float, typer.Option(help="kB of memory that an item may keep.")]
Transport = Annotated[str, typer.Option(help="inproc or ros")]


@app.command()
def sentences(count: Count = 30, most_kb: Most = 20.0, transport: Transport = "inproc") -> None:
    """Say sentences in one session."""
    shared = _Shared()
    with _elsewhere() as folder, _domain(transport):
        options = {"transport": transport, "library": str(folder / "library")}
        with spca.session(report=False, on_event=shared.look, **options) as table:
            told = itertools.cycle(SENTENCES)

            def one() -> None:
                sentence = next(told)
                if table.ask(sentence) is None:
                    table.do(sentence)

            _soak(one, shared, count, most_kb, "sentence")


@app.command()
def runs(
    count: Count = 6, most_kb: Most = 200.0, transport: Transport = "ros", level: str = "touch_02"
) -> None:
    """Run a level."""
    with _elsewhere() as folder:
        shared, numbers = _Shared(), itertools.count()

        def one() -> None:
            out = folder / f"{next(numbers)}"
            spca.run(level, transport=transport, report=False, out=out, on_event=shared.look)

        _soak(one, shared, count, most_kb, "run")


@contextmanager
def _elsewhere() -> Iterator[Path]:
    """Keep runs in a folder that goes afterwards."""
    with tempfile.TemporaryDirectory(prefix="spca_soak_") as scratch:
        RunFolder.create.__func__.__defaults__ = (None, Path(scratch))  # type: ignore[attr-defined]
        yield Path(scratch)


def _domain(transport: str) -> AbstractContextManager[object]:
    if transport != "ros":
        return nullcontext()
    require_ros()
    from spca_ros.domain import own_domain  # needs ROS

    return own_domain()


class _Mallinfo(ctypes.Structure):
    """What glibc's `mallinfo2` returns (malloc.h)."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    ]


def _in_use() -> float:
    """Return the kB that have been allocated and not freed, in all of malloc's arenas and mapped by it."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    told = mallinfo()
    return (told.uordblks + told.hblkhd) / 1024


class _Shared:
    """The files in /dev/shm that this process and its children have mapped, and that are there still."""

    def __init__(self) -> None:
        self._ours = set[str]()

    def look(self, event: object = None) -> None:
        """Take note of what is mapped now, as at each event of a run."""
        self._ours |= {path for each in _family() for path in _mapped(each)}

    def left(self) -> int:
        """Return how many are there and held by nobody else: another program may reuse a name."""
        self.look()
        self._ours = {path for path in self._ours if Path(path).exists()}
        others = {*psutil.process_iter()}.difference(_family())
        return len(self._ours.difference(*map(_mapped, others)))


def _family() -> list[psutil.Process]:
    here = psutil.Process()
    return [here, *here.children(recursive=True)]


def _mapped(process: psutil.Process) -> set[str]:
    with suppress(psutil.Error):
        return {each.path for each in process.memory_maps() if Path(each.path).parent == SHARED}
    return set()


def _soak(one: Callable[[], None], shared: _Shared, count: int, most_kb: float, item: str) -> None:
    here, kept = psutil.Process(), []
    for _ in range(count):
        one()
        gc.collect()
        memory = _in_use(), here.memory_info().rss / 1024
        kept.append((*memory, here.num_fds(), here.num_threads(), len(_family()) - 1, shared.left()))
    figures = np.array(kept)[count // 3 :]
    slopes = np.polyfit(np.arange(len(figures)), figures[:, :2], 1)[0]
    table = Table("what", f"after {count // 3}", f"after {count}", f"a {item}")
    for column, (what, slope) in enumerate(zip(("in use, MB", "resident, MB"), slopes, strict=True)):
        table.add_row(what, *(f"{v / 1024:.1f}" for v in figures[[0, -1], column]), f"{slope:.1f} kB")
    for column, what in enumerate(COUNTED, 2):
        table.add_row(what, *(f"{v:.0f}" for v in figures[[0, -1], column]), "")
    Console().print(table)
    # Half a cycle has a solver or a worker more than the other: the most of each half is compared.
    halves = np.array_split(figures[:, 2:], 2)
    grown = (halves[1].max(axis=0) > halves[0].max(axis=0)).any()
    raise typer.Exit(int(grown or slopes[0] > most_kb))


if __name__ == "__main__":
    if os.environ.get("PYTHONMALLOC") != "malloc":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONMALLOC": "malloc"})
    app()

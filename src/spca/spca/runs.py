"""A run: one level on one table, from its options to its report. Whoever runs levels does it with this."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from spca.interrupt import STOPPED, stopping_on_interrupt
from spca.kits import checked_kit, kit_of
from spca_core.errors import Cancelled, InputError, Lost
from spca_core.log import logging_to
from spca_core.options import REPLAY, Manifest, RunOptions, manifest
from spca_core.result import UNFINISHED
from spca_core.run_folder import EVENTS, MANIFEST, RunFolder, is_full, read_picture
from spca_core.validation import YAML_FILES
from spca_llm import is_configured

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spca.journal import Event, Listener
    from spca.order import Order
    from spca.stages import Stages
    from spca_core.plan import PlanResult
    from spca_core.ports.environment import Environment
    from spca_core.ports.kit import DocumentMaker
    from spca_core.result import RunResult
    from spca_core.scene import Observation

    Place = Callable[[RunOptions, Stages], AbstractContextManager[tuple[Environment, Stages]]]
    """Function that opens the world of a run, and says which stages act on it, given those of its options."""


_Run = TypeVar("_Run", bound="Run")
CRASH = "crash.txt"
"""Name of the file, in a run's folder, with the traceback of an unexpected failure."""
RESULT = "result.json"


class Run:
    """One level on one table: `advance` it to its end, `document` it; its folder has the rest."""

    def __init__(
        self, options: RunOptions, files: RunFolder, order: Order | None = None, resumed: bool = False
    ) -> None:
        self.options, self.files, self.resumed = options, files, resumed
        self.order = order
        self._world: Environment | None = None
        self.cancelled = ""
        """Reason why the run was cancelled; empty unless it was."""

    @classmethod
    def new(cls, options: RunOptions, out: str | Path | None = None, elsewhere: bool = False) -> Run:
        """Return a new run with a folder of its own, which holds nothing yet.

        It is carried out `elsewhere` if by another process. Raises InputError for bad input, before anything
        is written.
        """
        options = settled(options)
        if not elsewhere and options.transport == "inproc":
            from spca_planner.solver.process import warm_solver

            warm_solver()  # it is the last to be ready, so it starts first
        checked_kit(options)
        return cls(options, RunFolder.create(Path(options.level.rpartition(":")[2]).stem, out))

    @classmethod
    def of(cls: type[_Run], path: Path) -> _Run:
        """Return the run of a folder that has a manifest. Raises InputError where there is none."""
        files = RunFolder.open(path)
        return cls(files.read(MANIFEST, Manifest).options, files)

    @classmethod
    def reopened(cls, path: Path) -> Run:
        """Return the interrupted run of a folder, to be taken up. Raises InputError if it cannot be."""
        run = cls.of(path)
        if not run.files.claim():
            raise InputError("another process runs in this folder", where=str(path), hint="wait for its end")
        if (run.folder / RESULT).is_file() and run.result.outcome not in UNFINISHED:
            hint = f"its result was: {run.result.reason}"
            raise InputError("this run has ended", where=str(path), hint=hint)
        vars(run).pop("result", None)
        run.resumed = True
        return run

    def advance(self, *listeners: Listener, environment: Environment | None = None) -> RunResult:
        """Advance the run to its end and return its result; `listeners` hear of its events, in this thread.

        An `environment` that is given is neither opened nor closed. The first Ctrl-C cancels the run. The
        solver's process stays for the next run in this process.
        """
        if environment is None and self.options.transport == "ros":
            from spca.ros import require_ros

            require_ros()
            from spca.ros.graph import on_graph

            return on_graph(self, listeners)
        return self.carry_out(partial(_here, environment), listeners)

    def carry_out(self, place: Place, listeners: tuple[Listener, ...] = ()) -> RunResult:
        """Have the supervisor carry out the run, in the world that `place` opens.

        An unexpected failure leaves its traceback in the folder and is raised as it is.
        """
        from spca.proposals import open_stages
        from spca.supervisor import Supervisor

        if not self.resumed:
            self.files.write(MANIFEST, manifest(self.options))
        try:
            with (  # first the stages: their solver warms up meanwhile
                logging_to(self.folder),
                open_stages(self.options, kit_of(self.options.level), self.files) as opened,
                place(self.options, opened) as (world, there),
            ):
                stages = there if self.order is None else self.order.applied(there)
                self._world = judged = world
                if world.task.judge == "look":
                    from spca.judged_by_look import JudgedByLook

                    judged = JudgedByLook(world, stages.readers.plans)
                supervisor = Supervisor(judged, stages, self.files, listeners, lambda: self.cancelled)
                try:
                    with self.stopping_on_interrupt():
                        self.result = supervisor.resume() if self.resumed else supervisor.run()
                        return self.result
                finally:
                    self._world = None
                    world.save_recording(self.folder)
        except (InputError, Cancelled, Lost):
            raise
        except Exception as error:
            self.files.check()
            if not is_full(error):
                self.files.write(CRASH, traceback.format_exc())
            raise

    def stopping_on_interrupt(self) -> AbstractContextManager[None]:
        """Have the first Ctrl-C cancel the run, and the second end the process, while the context lasts."""
        return stopping_on_interrupt(self.cancel)

    def cancel(self, reason: str = STOPPED) -> None:
        """Stop the arm first, then end the run; may be called from any thread or a signal handler."""
        self.cancelled = reason
        if (world := self._world) is not None:
            world.cancel()

    def document(
        self,
        complain: Callable[[str], None] = lambda text: None,
        reported: Callable[[Path], None] = lambda report: None,
    ) -> Path:
        """Write the report and the environment's other artefacts (video, log); return the report's path.

        `reported` hears of the report when it is there; what takes longer, as a video, is added to it later.
        An error in one of these is reported to `complain` and costs only that file; a full disk raises
        OSError.
        """
        from spca.report import write_report

        for number, makers in enumerate(kit_of(self.options.level).documents(self.options)):
            self._make(makers, complain)
            report = write_report(self.files)
            if not number:
                reported(report)
        return report

    def _make(self, makers: Sequence[DocumentMaker], complain: Callable[[str], None]) -> None:
        with ThreadPoolExecutor(max(len(makers), 1)) as pool:  # drawing hardly needs the interpreter's lock
            making = [(make.__name__, pool.submit(make, self.files, self.options)) for make in makers]
        for name, made in making:
            if (error := made.exception()) is not None:
                if is_full(error) or not isinstance(error, Exception):
                    raise error
                complain(f"{name}: {type(error).__name__}: {error}")

    @cached_property
    def result(self) -> RunResult:
        """The result with which the run has ended. Raises InputError before its end."""
        from spca_core.result import RunResult

        return self.files.read(RESULT, RunResult)

    @property
    def folder(self) -> Path:
        """The folder with every file that the run has left."""
        return self.files.path

    @property
    def report(self) -> Path | None:
        """The path of the HTML report; None where there is none."""
        return path if (path := self.folder / "report.html").is_file() else None

    @property
    def events(self) -> list[Event]:
        """The events of the run, in order."""
        from spca.journal import Event

        return list(self.files.read_log(Event, EVENTS))

    @property
    def seen(self) -> list[Observation]:
        """What was seen at the beginning of each round."""
        from spca_core.scene import Observation

        return [Observation.model_validate_json(file.read_bytes()) for file in self.files.looks]

    @property
    def planning(self) -> PlanResult | None:
        """The result of the last planning; None before the first."""
        from spca_core.plan import PlanResult

        return next(reversed(self.files.read_stage("plan", PlanResult)), None)

    def looks(self) -> Iterator[NDArray[np.uint8]]:
        """Yield the camera image of each look, detections drawn in: RGB images (height, width, 3)."""
        for path in sorted(self.folder.glob("looks/*.[jp][pn]g")):
            if (image := read_picture(path)) is not None:
                yield image[..., ::-1].copy()

    def __repr__(self) -> str:
        if not (self.folder / RESULT).is_file():
            return f"<{self.options.level}: under way>"
        result = self.result
        return f"<{result.level}: {result.words}, {result.wall:.1f} s – {result.reason}>"

    def _repr_jpeg_(self) -> bytes | None:
        """Return the JPEG of the last look, for notebooks; None before the first."""
        seen = sorted(self.folder.glob("looks/*.jpg"))
        return seen[-1].read_bytes() if seen else None


def settled(options: RunOptions) -> RunOptions:
    """Return the options of the same run in words that mean the same to every process.

    Paths are absolute; `auto` becomes a configured model, or else `builtin`.
    """
    words = {name: _file(getattr(options, name)) for name in ("level", "world", "llm")}
    words["library"] = _folder(options.library)
    if options.llm.startswith(REPLAY):
        words["llm"] = REPLAY + _folder(options.llm.removeprefix(REPLAY))
    if options.proposer == "auto":
        words["proposer"] = "openai" if options.llm or is_configured() else "builtin"
    return options.model_copy(update=words)


def _file(text: str) -> str:
    """Return a YAML file's absolute path; return a name, or the path of no file, as the user wrote it."""
    return os.path.abspath(text) if Path(text).suffix in YAML_FILES and os.path.isfile(text) else text


def _folder(text: str) -> str:
    return os.path.abspath(text) if text else ""


@contextmanager
def _here(
    given: Environment | None, options: RunOptions, stages: Stages
) -> Iterator[tuple[Environment, Stages]]:
    """Open a world in this process, unless one is given, as long as the context lasts."""
    world = nullcontext(given) if given else kit_of(options.level).session(options, stages.vision)
    with world as environment:
        yield environment, stages

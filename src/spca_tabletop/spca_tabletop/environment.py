"""The tabletop as an `Environment`, over whatever world its table is in."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spca_core import scene as scenes
from spca_core.camera import RgbdFrame
from spca_core.checkpoint import pack, unpack
from spca_core.contacts import SAMPLE_PERIOD, ContactSample
from spca_core.errors import InputError, Unsupported
from spca_core.geometry import Pose, top_down_yaw
from spca_core.kinds import SOLIDS
from spca_core.layout import Layout
from spca_core.names import symbol_of, words_of
from spca_core.options import RunOptions
from spca_core.plan import ActResult, Plan
from spca_core.ports.environment import Environment
from spca_core.ports.table import TableWorld
from spca_core.result import Outcome, Verdict
from spca_core.scene import Observation, Scene, SceneObject
from spca_core.skill import CtxApi, StepReport
from spca_core.skill_package import library_source
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_referee import referee as referees
from spca_referee.level import SETTLE_S, Level, task
from spca_referee.referee import Referee, save_timeline
from spca_robot.gripper_2f85 import PAD_TIP
from spca_sandbox.executor import PlanExecutor
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Detector
from spca_sense.drawing import draw_scene, save_looks
from spca_sense.search import ShapeDetector
from spca_sense.tracker import IN_HAND_CONFIDENCE, SceneTracker
from spca_tabletop.act.ctx import MISJUDGED, TABLETOP_API, TabletopCtx
from spca_tabletop.act.placements import Hold
from spca_tabletop.presets import load_table

if TYPE_CHECKING:
    from spca_core.ports.chat import VisionModel
    from spca_core.result import MovingScene
    from spca_tabletop.signals import LiveScene

_TableT = TypeVar("_TableT", bound=TableWorld)
_KINDS = (*referees.CHECKPOINT_KINDS, *scenes.CHECKPOINT_KINDS)


class Tabletop(Environment, Generic[_TableT]):
    """See `spca_core.ports.environment.Environment`.

    One level on one `table`, of which `poses` are what lay there at the start; not to be used from two
    threads. The referee is an object in here, fed with the contacts of the table; nobody else can decide.
    """

    name = "tabletop"
    api: CtxApi = TABLETOP_API
    builtin_skills = Path(__file__).with_name("act") / "skills.py"

    def __init__(
        self,
        level: Level,
        world: World,
        layout: Layout,
        table: _TableT,
        seed: int = 0,
        *,
        arm: Manipulator | None = None,
        vision: VisionModel | None = None,
        detector: Detector | None = None,
    ) -> None:
        self.task = task(level)
        self.looks: list[tuple[RgbdFrame, Scene]] = []
        """Pictures with what was seen in them, kept until the verdict so that the run is not slowed down."""
        self.level, self.world, self.poses = level, world, layout.poses
        self.table = table
        if level.needs_poses:
            table.places(())  # refuses a level that cannot be judged here
        with suppress(Unsupported):  # a real table is as somebody has laid it
            table.reset(layout, seed)
        self._referee = Referee(level, world, layout.poses, start=table.now())
        table.on_contacts(self._judge)
        self._arm = arm or Manipulator(world, table.robot)
        self._tracker = SceneTracker(detector or ShapeDetector(Catalogue.from_world(world)))
        self._ctx = TabletopCtx(world, self._arm, self._perceive, table.now, PAD_TIP)
        if table.wrist_camera is not None:
            self._ctx.look_closer = self._look_closer
        self._executor = PlanExecutor(TABLETOP_API, builtin=library_source(self.name, self.builtin_skills))
        self._cancelled = False
        self._drawing: LiveScene | None = None  # made for whoever watches
        self._vision = vision

    def sense(self) -> Observation:
        """Move the arm out of view and look; a vision model may add its remarks to what the detector sees."""
        self._arm.resume()
        if self._cancelled:  # just now
            self._arm.stop()
        began = self._ctx.memory[0] is not None
        scene = self._ctx.survey()
        if not began and self._arm.holding():  # since before this program
            self._take_over(scene)
            scene = self._ctx.survey()
        if self._vision is not None and not self.verdict().final:  # the run is over: nobody will read it
            image = self.looks[-1][0].colour
            if (seen := self._vision.observation(scene, image, self.task)) is not None:
                return seen
            from spca_sense.remarks import with_remarks

            scene = with_remarks(scene, self._vision, image, self.task)
            self.looks[-1] = (self.looks[-1][0], scene)
        return Observation.of(scene)

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """Carry out the plan, unless it can be foreseen that there is no room at a place of it.

        After a success its step under way runs to the end; any other final verdict stops it at once.
        """
        self._arm.resume()
        if why := self._ctx.foreseen(plan):
            return ActResult(attempt=attempt, status="failed", steps=(), message=why)
        return self._executor.execute(
            attempt, plan, library, self._ctx, on_step,
            cancelled=lambda: self._cancelled, enough=lambda: self.verdict().final,
        )  # fmt: skip

    def settle(self) -> Verdict:
        """Let the world come to rest and the referee see enough of it; return the verdict."""
        end = self.table.now() + SETTLE_S
        while self.table.now() < end and not (self.verdict().final or self._cancelled):
            self.table.wait(SAMPLE_PERIOD)
            if self._referee.holding:
                end = max(end, self.table.now() + self.level.dwell_s)
        return self.verdict()

    def verdict(self) -> Verdict:
        """Return the referee's judgement so far."""
        return self._referee.verdict

    def checkpoint(self) -> bytes:
        """Return world, referee and memory of the scene; empty where the world cannot be put back."""
        world = self.table.checkpoint()
        return b"" if world is None else pack((world, self._referee, self._ctx.memory, self._arm.held))

    def restore(self, checkpoint: bytes) -> None:
        """Go back to a checkpoint of this level; where it is empty, keep everything as it is."""
        if not checkpoint:
            return
        state, self._referee, memory, held = unpack(checkpoint, _KINDS)
        self.table.restore(state)
        self._ctx.recall(memory, held)
        if (scene := memory[0]) is not None:
            self._tracker.adopt(scene)

    def cancel(self) -> None:
        """Stop the arm, and the run."""
        self._cancelled = True  # first: a look may just let the arm move again
        self._arm.stop()

    def close(self) -> None:
        """End the sandbox, save nothing, release the table."""
        self._executor.close()
        self.table.close()

    def take_up(self, options: RunOptions) -> None:
        """Take up the level of these options, as `Environment` says; times go on from where they are."""
        self.level = load_table(options)[1]
        self.task = task(self.level)
        self._referee = Referee(self.level, self.world, self.poses)
        self.looks.clear()
        self.table.record_afresh()
        self._cancelled = False
        self.table.wait(SAMPLE_PERIOD)  # for a first sample, by which the referee knows the time

    def drawn(self) -> MovingScene:
        """See `Environment`. Things are where they were seen last, but for what the gripper carries."""
        from spca_tabletop.signals import LiveScene

        if self._drawing is None:
            self._drawing = LiveScene(self.world)
        scene, arm = self._ctx.memory[0], self._arm
        return self._drawing.at(scene.objects if scene else (), arm.state(), arm.held, arm.tool_pose())

    def picture(self) -> NDArray[np.uint8] | None:
        """See `Environment`."""
        return draw_scene(*self.looks[-1]) if self.looks else None

    def save_recording(self, folder: Path) -> None:
        """Write `looks/` (see `save_looks`), `contacts.json` and states into a run's folder."""
        save_looks(self.looks, folder / "looks")
        save_timeline(self._referee.contacts.timeline(), folder / "contacts.json")
        self.table.save_recording(folder)

    def _perceive(self) -> Scene:
        frame = self.table.camera.capture()
        scene = self._tracker.update(frame, self._arm.held, self._arm.tool_pose(), self._arm.state())
        self.looks.append((frame, scene))
        return scene

    def _look_closer(self) -> Scene:
        """Look into what the last picture left hidden; explain that picture and the new ones together."""
        from spca_tabletop.act.glances import glances

        (frame, scene), camera = self.looks[-1], self.table.wrist_camera
        if camera and (frames := glances(self.world, self._arm, camera, frame)):
            scene = self._tracker.update(frame, None, self._arm.tool_pose(), self._arm.state(), frames)
            self.looks.append((frame, scene))
        return scene

    def _take_over(self, scene: Scene) -> None:
        """Know what the gripper is closed on: the one thing of the level that fits it and is not in sight.

        Raises InputError where none is, or more than one.
        """
        tool, gap = self._arm.tool_pose(), self._arm.state().gripper_gap
        lain = {symbol_of(o.model): o for o in self.world.objects if o.model in self.poses}
        lacking = {name: o for name, o in lain.items() if o.kind in SOLIDS and scene.get(name) is None}
        fitting = [n for n, o in lacking.items() if min(abs(gap - a) for a in o.size[:2]) < MISJUDGED]
        if len(fitting) != 1:
            which = " or ".join(map(words_of, fitting)) or "nothing of that width is missing from the table"
            hint = "take it out, or have the program put it down that has picked it up"
            raise InputError("the gripper holds something that was picked up before", which, hint)
        name, it = fitting[0], lain[fitting[0]]
        yaw = top_down_yaw(tool) + (math.pi / 2 if abs(gap - it.size[1]) > MISJUDGED else 0.0)
        x, y, z = tool.position
        pose, colour = Pose.from_xyz_yaw(x, y, z, yaw), words_of(name).split()[0]
        thing = SceneObject(
            id=name, kind=it.kind, colour=colour, pose=pose, size=it.size, confidence=IN_HAND_CONFIDENCE
        )
        scene = scene.model_copy(update={"objects": (*scene.objects, thing)})
        self._tracker.adopt(scene)
        self._ctx.recall((scene, astuple(Hold.of(thing, tool, top_down_yaw(tool))), ()), name)

    def _judge(self, sample: ContactSample) -> None:
        """Judge a sample; a failure stops the arm at that very sample, so that a run repeats exactly."""
        decided = self.verdict().final
        places = self.table.places(self.poses) if self.level.needs_poses else {}
        verdict = self._referee.consume(sample, places)
        if verdict.final and not decided and verdict.outcome is not Outcome.SUCCESS:
            self._arm.stop()

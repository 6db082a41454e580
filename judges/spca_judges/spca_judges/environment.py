"""An episode of a judge as the tabletop's `Environment`: the stack senses, plans and acts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spca_core.camera import RgbdFrame
from spca_core.plan import ActResult, Plan, Task
from spca_core.ports.environment import Environment
from spca_core.result import Outcome, Verdict
from spca_core.scene import Observation, Scene
from spca_core.skill import CtxApi, StepReport
from spca_core.skill_package import library_source
from spca_core.world import World
from spca_judges.port import Episode
from spca_judges.robot import EpisodeCamera, EpisodeRobot
from spca_motion.manipulator import Manipulator
from spca_robot.gripper_2f85 import PAD_TIP
from spca_sandbox.executor import PlanExecutor
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Detector
from spca_sense.drawing import save_looks
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_tabletop.act import skills
from spca_tabletop.act.ctx import TABLETOP_API, TabletopCtx

SETTLE_S = 1.0
"""What the judge's rule says counts after the arm has been still for so long."""


class JudgedTabletop(Environment):
    """See `spca_core.ports.environment.Environment`. The episode has been reset; it is not taken down here.

    The world cannot be put back: there are no checkpoints. `stiffness` is the controller's (see
    `EpisodeRobot`), `limit_s` are the simulated seconds that an attempt may take.
    """

    name = "tabletop"
    api: CtxApi = TABLETOP_API
    builtin_skills = Path(skills.__file__)

    def __init__(
        self,
        name: str,
        episode: Episode,
        world: World,
        stiffness: float,
        limit_s: float,
        detector: Detector | None = None,
    ) -> None:
        """`name` is the task's, for the record; what is to be done is the episode's text.

        Without a `detector`, things are found as on the project's own tables.
        """
        self.task = Task(group="judge", id=name, title=episode.text, description=episode.text)
        self.looks: list[tuple[RgbdFrame, Scene]] = []
        self._episode, self._limit = episode, limit_s
        self._robot = EpisodeRobot(episode, stiffness)
        self._camera = EpisodeCamera(episode, world)
        self._start = self._robot.now()
        self._arm = Manipulator(world, self._robot)
        self._tracker = SceneTracker(detector or ShapeDetector(Catalogue.from_world(world)))
        self._ctx = TabletopCtx(world, self._arm, self._perceive, self._robot.now, PAD_TIP)
        self._executor = PlanExecutor(TABLETOP_API, builtin=library_source(self.name, self.builtin_skills))
        self._cancelled = False

    def sense(self) -> Observation:
        """Move the arm out of view and look."""
        self._arm.resume()
        return Observation.of(self._ctx.survey())

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """Run the plan; a step under way when the judge is content runs to its end."""
        self._arm.resume()
        return self._executor.execute(
            attempt, plan, library, self._ctx, on_step,
            cancelled=lambda: self._cancelled, enough=lambda: self.verdict().final,
        )  # fmt: skip

    def settle(self) -> Verdict:
        """Stand still, so that what only passes by is no success."""
        self._robot.wait(SETTLE_S)
        return self.verdict()

    def verdict(self) -> Verdict:
        """Return the judge's current verdict."""
        stamp = self._robot.now() - self._start
        if self._episode.success():
            return Verdict(outcome=Outcome.SUCCESS, score=1.0, stamp=stamp, reason="the judge's rule holds")
        late = stamp > self._limit
        reason = f"{self._limit:g} s are over" if late else "the judge's rule does not hold"
        return Verdict(
            outcome=Outcome.TIMEOUT if late else Outcome.RUNNING, score=0.0, stamp=stamp, reason=reason
        )

    def save_recording(self, folder: Path) -> None:
        """Write the looks."""
        save_looks(self.looks, folder / "looks")

    def cancel(self) -> None:
        """Stop the arm, then the run."""
        self._arm.stop()
        self._cancelled = True

    def close(self) -> None:
        """End the sandbox."""
        self._executor.close()

    def _perceive(self) -> Scene:
        frame = self._camera.capture()
        scene = self._tracker.update(frame, self._arm.held, self._arm.tool_pose(), self._arm.state())
        self.looks.append((frame, scene))
        return scene

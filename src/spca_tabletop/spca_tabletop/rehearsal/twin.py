"""The tabletop's twin: physics built from what was seen, with the same arm, skills and sandbox as the run."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from spca_core.contacts import SAMPLE_PERIOD, ContactSample, Pair, Way, pair
from spca_core.errors import InputError, MotionError
from spca_core.geometry import Pose
from spca_core.kinds import KINDS, SOLIDS, SUPPORTS
from spca_core.names import COBOT, GROUND, GROUND_SYMBOL, TABLE, TABLE_SYMBOL, symbol_of
from spca_core.plan import ActResult, Choice, Moment, Perturbation, Plan
from spca_core.ports.vocabulary import Extension
from spca_core.scene import Fact, Observation, Scene, SceneObject
from spca_core.skill import StepReport
from spca_core.skill_package import library_source
from spca_core.stopping import Stop, never
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_planner.pddl.formula import ground
from spca_planner.prediction import predict
from spca_robot.gripper_2f85 import PAD_TIP
from spca_sandbox.executor import PlanExecutor
from spca_sandbox.limits import Limits
from spca_sense.detection import square_yaw
from spca_sense.relations import LEAN, relate
from spca_sense.tracker import IN_HAND
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.recording import SimState, save_states
from spca_tabletop.act import skills
from spca_tabletop.act.ctx import TABLETOP_API, TabletopCtx
from spca_tabletop.plan.vocabulary import TOUCHED_NAMES, TabletopVocabulary
from spca_tabletop.rehearsal.world import POSITION_SD, VARIATIONS, Errors, SeenWorld

_KEPT = VARIATIONS + 2
"""Number of simulators kept for the next try: one of each draw, an exact and a pessimistic one."""
_TICK_S, _STILL_M = 2 * SAMPLE_PERIOD, 2 * POSITION_SD
"""Duration of a tick in seconds, and the motion in metres during one below which a thing is at rest."""
_SETTLE_S, _REST_S = 0.6, 1.0
"""Longest time to come to rest after a step, and time of rest at the end, in simulated seconds."""
_RECENT = 5
"""Number of contact samples (of 20 ms) that count as the present."""
_LIMITS = Limits(worker_s=2.0)
_STEP_WALL_S = 120.0
_MOVED_M = 0.001


class TabletopTwin:
    """See `spca_core.ports.stages.Twin`. `world` is the workspace as described; see `SeenWorld`."""

    certain = False

    def __init__(self, world: World) -> None:
        self.vocabulary = TwinVocabulary()
        self._world = SeenWorld(world)
        builtin = library_source("tabletop", Path(skills.__file__))
        self._executor = PlanExecutor(TABLETOP_API, _LIMITS, step_wall_s=_STEP_WALL_S, builtin=builtin)
        self._simulators: dict[str, MujocoWorld] = {}
        self._states: list[SimState] = []
        self._played: World | None = None
        self._others: list[tuple[Choice, ...]] = []

    def refusal(self, observation: Observation) -> str:
        """See `Twin`."""
        if observation.scene is None:
            return "the observation has no record of poses"
        if any(f.predicate == "held" for f in observation.scene.relations):
            return "something is in the gripper"
        return ""

    def play(
        self,
        plan: Plan,
        library: str,
        observation: Observation,
        perturbation: Perturbation,
        go_on: Callable[[Moment], bool],
        cancelled: Stop = never,
    ) -> tuple[ActResult, float]:
        """See `Twin`."""
        scene, errors = observation.scene, Errors(perturbation)
        if scene is None:
            raise InputError("the observation has no scene to rehearse in")
        self._played = self._world.of(scene)
        simulator = self._simulator(self._played, errors)
        simulator.reset(errors.truth(scene))
        self._states = simulator.states
        kept = {ground(fact, {})[1] for fact in predict(plan).problem.init if fact.head == "kept"}
        stage = _Stage(self._world.bare, simulator, scene, errors, kept)
        simulator.on_contacts(stage.touched)
        stopped = not go_on(stage.moment("start"))

        def on_step(step: StepReport) -> None:
            nonlocal stopped
            if step.status == "done":
                stage.settle()
            stopped = not go_on(stage.moment("step", step))

        try:
            result = self._executor.execute(
                "rehearsal", plan, library, stage.ctx, on_step, cancelled, lambda: stopped
            )
            if result.status == "done" and not stopped:
                stage.rest()
                go_on(stage.moment("rest"))
            return result, simulator.time
        finally:
            self._others = stage.ctx.preferences.others()
            simulator.close()

    def alternatives(self) -> Sequence[Sequence[Choice]]:
        """See `Twin`."""
        return self._others

    def record(self, folder: Path, name: str) -> None:
        """Write the states of the last play, and the world they are of, for a video."""
        if self._played is not None and self._states:
            save_states(self._states, folder / f"{name}.states.npz")
            (folder / f"{name}.world.json").write_text(json.dumps(self._played.model_dump(mode="json")))

    def close(self) -> None:
        """See `Twin`."""
        self._executor.close()

    def _simulator(self, world: World, errors: Errors) -> MujocoWorld:
        """Return a simulator of that world, a warm one if there is one."""
        key = f"{[(o.model, o.kind, [round(s, 4) for s in o.size]) for o in world.objects]}{errors.variation}"
        simulator = self._simulators.pop(key, None) or MujocoWorld(
            world, noise=False, variation=errors.variation
        )
        self._simulators[key] = simulator
        if len(self._simulators) > _KEPT:
            del self._simulators[next(iter(self._simulators))]
        return simulator


class _Stage:
    """One play: the simulated things, the arm among them, and what has touched what."""

    def __init__(
        self, world: World, table: MujocoWorld, scene: Scene, errors: Errors, kept: Collection[str]
    ) -> None:
        """Make a play of a scene; `kept` are the things that the robot must leave alone."""
        self._world, self._sim, self._errors, self._kept = world, table, errors, kept
        self._things = scene.objects
        self._first: Scene | None = scene.model_copy(update={"stamp": table.now()})
        self._arm = Manipulator(world, table)
        self._recent: deque[frozenset[Pair]] = deque(maxlen=_RECENT)
        self._ways: deque[frozenset[Way]] = deque(maxlen=_RECENT)
        self._since: set[Pair] = set()
        self._ever_touched: set[str] = set()
        self._before = self._poses()
        self._lost = {f.args[0] for f in scene.relations if f.args[1:] == (GROUND_SYMBOL,)}
        self.ctx = TabletopCtx(world, self._arm, self._perceive, table.now, PAD_TIP)
        self.ctx.perceive()

    def touched(self, sample: ContactSample) -> None:
        """Take in the contacts of a sample."""
        self._recent.append(sample.pairs)
        self._ways.append(sample.ways)
        self._since |= sample.pairs
        self._ever_touched |= {a if b == COBOT else b for a, b in sample.pairs if COBOT in (a, b)}

    def settle(self) -> None:
        """Let things come to rest."""
        end, before = self._sim.time + _SETTLE_S, self._poses()
        while self._sim.time < end:
            self._sim.step(_TICK_S)
            now = self._poses()
            if max((math.dist(now[k].position, before[k].position) for k in now), default=0.0) < _STILL_M:
                return
            before = now

    def rest(self) -> None:
        """Move the gripper away at the end, unless it holds something, and let nothing move for a while."""
        if self._held() is None:
            try:
                self._arm.resume()
                self._arm.move_named("out_of_view")
            except MotionError:
                pass  # it stays where it is; the goal is judged all the same
        self._sim.step(_REST_S)

    def moment(self, phase: str, step: StepReport | None = None) -> Moment:
        """Return what has come of the world since the last moment."""
        poses, held = self._poses(), self._held()
        objects = [_at(thing, poses[thing.id]) for thing in self._things]
        facts, _ = relate(objects, held, self._world.table.top)
        contacts, ways = frozenset().union(*self._recent), frozenset().union(*self._ways)
        facts = [f for f in facts if f.predicate != "next_to" or ("beside", *pair(*f.args)) in ways]
        facts += self._from_contacts(objects, held, contacts, ways)
        moved = {k: math.dist(poses[k].position, self._before[k].position) for k in poses}
        fallen = {f.args[0] for f in facts if f.predicate == "on" and f.args[1] == GROUND_SYMBOL}
        kinds: dict[str, str] = {**{o.id: o.kind for o in objects}, TABLE_SYMBOL: "table"}
        kinds |= {GROUND_SYMBOL: "ground"} if fallen else {}
        seen = Scene(stamp=self._sim.time, objects=tuple(objects), relations=tuple(facts), sentences=())
        found = Moment.model_validate(
            {
                "phase": phase,
                "step": step,
                "observation": Observation(
                    stamp=self._sim.time, objects=kinds, facts=tuple(facts), sentences=(), scene=seen
                ),
                "displaced": {k: d for k, d in moved.items() if d > _MOVED_M},
                "unsafe": tuple(self._unsafe()),
                "lost": tuple(sorted(fallen - self._lost)),
            }
        )
        self._before, self._lost, self._since = poses, self._lost | fallen, set()
        return found

    def _perceive(self) -> Scene:
        """Return what a camera would show: the first time, what it did show."""
        if (first := self._first) is not None:
            self._first = None
            return first
        poses, tool = self._poses(), self._arm.tool_pose()
        held = self._arm.held
        if held is not None and math.dist(poses[held].position, tool.position) > IN_HAND:
            held = None
        objects = [
            _at(thing, self._errors.perceived(poses[thing.id]), self._sim.time) for thing in self._things
        ]
        facts, notes = relate(objects, held, self._world.table.top)
        return Scene(
            stamp=self._sim.time, objects=tuple(objects), relations=tuple(facts), sentences=(),
            notes=tuple(notes),
        )  # fmt: skip

    def _poses(self) -> dict[str, Pose]:
        return {thing.id: self._sim.object_pose(thing.id) for thing in self._things}

    def _held(self) -> str | None:
        """Return what is truly between the pads: pressed by them, and touched now; None if nothing is."""
        if not self._arm.holding():
            return None
        tool = self._arm.tool_pose().position
        contacts = frozenset().union(*self._recent)
        near = {
            k: d
            for k, p in self._poses().items()
            if (d := math.dist(p.position, tool)) < 0.045 and pair(COBOT, k) in contacts
        }
        return min(near, key=lambda k: near[k], default=None)

    def _from_contacts(
        self, objects: list[SceneObject], held: str | None, contacts: frozenset[Pair], ways: frozenset[Way]
    ) -> Iterator[Fact]:
        kinds = {o.id: o.kind for o in objects}
        touching: dict[str, set[str]] = {k: set() for k in kinds}
        for a, b in contacts:
            for one, other in ((a, b), (b, a)):
                if one in touching:
                    touching[one].add(symbol_of(other))
        for name in sorted(self._ever_touched & kinds.keys()):
            yield Fact(predicate="touched", args=(name,))
        for name, others in touching.items():
            if name == held:  # what still touches something has not been lifted
                for other in sorted(others - {COBOT, GROUND}):
                    yield Fact(predicate="on", args=(name, other))
                continue
            below = sorted(o for o in others if kinds.get(o) in SOLIDS and ("rests_on", name, o) in ways)
            for a in below:
                yield from (Fact(predicate="across", args=(name, a, b)) for b in below if b != a)

    def _unsafe(self) -> Iterator[str]:
        for other, words in ((TABLE, "the table"), (COBOT, "itself"), (GROUND, "the ground")):
            if pair(COBOT, other) in self._since:
                yield f"the arm touches {words}"
        for name in sorted(self._kept):
            if pair(COBOT, name) in self._since:
                yield f"the arm touches {name}, which is to be left alone"


def _at(thing: SceneObject, pose: Pose, stamp: float = 0.0) -> SceneObject:
    """Return the thing at a pose as Sense would report it: a cube's own axes are those nearest to upright."""
    if KINDS[thing.kind].cubic:
        pose = _upright(pose)
    elif KINDS[thing.kind].domed:  # it looks the same from all sides
        pose = Pose(position=pose.position)
    return thing.model_copy(update={"pose": pose, "visible": True, "last_seen": stamp})


def _upright(pose: Pose) -> Pose:
    """Return the pose of the same cube with the face that is on top as its upper one."""
    axes = pose.matrix()[:3, :3]
    top = int(np.argmax(np.abs(axes[2])))
    up = axes[:, top] * math.copysign(1.0, axes[2, top])
    x, y, z = pose.position
    side = axes[:, (top + 1) % 3]
    if up[2] > math.cos(LEAN):
        return Pose.from_xyz_yaw(x, y, z, square_yaw(math.atan2(side[1], side[0])))
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([side, np.cross(up, side), up])
    matrix[:3, 3] = pose.position
    return Pose.from_matrix(matrix)


class TwinVocabulary(TabletopVocabulary):
    """The tabletop's vocabulary, with the facts that the twin takes from its own contacts."""

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`. Every contact of the play so far is known, so what is not said does not hold."""
        found = super().after(observation)
        solids, supports = frozenset(SOLIDS), frozenset(SUPPORTS)

        def said(predicate: str) -> frozenset[tuple[str, ...]]:
            return frozenset(f.args for f in observation.facts if f.predicate == predicate)

        found |= dict.fromkeys(TOUCHED_NAMES, Extension((solids | supports,), said("touched")))
        found["across"] = Extension((solids,) * 3, said("across"))
        return found

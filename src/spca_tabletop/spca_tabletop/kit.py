"""The tabletop's kit: what the rest of spca needs to know of this world, and how it is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from spca_core.options import RunOptions
from spca_core.ports.kit import DocumentMaker, Kit, LevelInfo, late
from spca_tabletop import act

if TYPE_CHECKING:  # constructing a kit must be cheap: every command does
    import numpy as np
    from numpy.typing import NDArray

    from spca_core.ports.chat import VisionModel
    from spca_core.scene import SceneObject
    from spca_sim.mujoco_world import MujocoWorld
    from spca_tabletop.environment import Tabletop
    from spca_tabletop.rehearsal.twin import TabletopTwin
    from spca_tabletop.ros.executor_node import TabletopRos


_PUBLISHED = {
    "touch": range(2, 10),
    "pickup": range(2, 8),
    "pick_and_place": (1, 2, 3, 4, 5, 7, 8, 9),
    "stack": (1, 2, 3, 4, 5, 6, 7, 8, 10),
}
"""Numbers of the published levels, by group."""


class TabletopKit(Kit):
    """See `spca_core.ports.kit.Kit`."""

    name = "tabletop"
    about = "an arm with a Robotiq 2F-85 and an RGB-D camera over a table with cubes and plates"
    has_twin = takes_sentences = True
    builtin_skills = Path(act.__file__).with_name("skills.py")
    presets = late("spca_tabletop.presets:PRESETS")
    api = late("spca_tabletop.act.ctx:TABLETOP_API")
    builtin = late("spca_tabletop.plan.proposer:BuiltinProposer")
    vocabulary = late("spca_tabletop.plan.vocabulary:TabletopVocabulary")
    domain = late("spca_tabletop.plan.problem:domain")
    situation = late("spca_tabletop.plan.problem:situation")
    room = late("spca_tabletop.plan.room:room")
    no_room = late("spca_tabletop.plan.room:no_room")
    answer = late("spca_tabletop.language.understanding:answer")
    understands = late("spca_tabletop.language.understanding:makes_sense")
    examine = late("spca_tabletop.level_check:examine_level")

    def levels(self) -> Sequence[LevelInfo]:
        """Return the levels of the files in `levels/`."""
        from spca_core.world import load_world
        from spca_referee.level import list_levels, load_level

        same, read = {"title", "time_limit_s", "difficulty"}, cache(load_world)
        return [
            LevelInfo(
                name=n, group=level.task_group, about=level.description, **level.model_dump(include=same)
            )
            for n, level in ((n, load_level(n, read=read)) for n in list_levels())
        ]

    def start_picture(self, level: str) -> NDArray[np.uint8]:
        """See `Kit.start_picture`."""
        with closing(self.build(RunOptions(level=level, proposer="builtin", noise=False))) as environment:
            return environment.table.camera.capture().colour

    def published(self) -> tuple[str, ...]:
        """See `Kit.published`: as many of each group as in Pesjak and Žabkar (2026)."""
        return tuple(f"{group}_{n:02}" for group, numbers in _PUBLISHED.items() for n in numbers)

    def check(self, options: RunOptions) -> None:
        """Raise InputError for an unknown level or world, or a live view without a display.

        Raises OutOfReach where another arm is too short.
        """
        from spca_tabletop.presets import check_reach, load_table

        if options.view is True:
            from spca_sim.live_view import require_display

            require_display()
        world, level = load_table(options)
        if options.robot:  # a world's own arm reaches its work area
            check_reach(options, world, level)

    def sentence_level(self, sentence: str, world: str = "", conversation: Sequence[str] = ()) -> str:
        """See `Kit.sentence_level`: no layout or conditions, and time for a session."""
        import yaml

        level = {
            "task_group": "sentence",
            "task_id": "01",
            "title": shorten(sentence.strip().rstrip(".").partition("\n")[0], 200, placeholder=" …"),
            "description": sentence.strip(),
            "difficulty": "unknown",
            "time_limit_s": 100_000,
            "judge": "look",
            "conversation": list(conversation),
            **({"world": world} if world else {}),
        }
        return yaml.safe_dump(level, sort_keys=False, allow_unicode=True)

    def names_a_thing(self, words: str) -> bool:
        """See `Kit.names_a_thing`."""
        from spca_tabletop.language.understanding import reads_as

        return reads_as("Thing", words)

    def spot_in_words(self, thing: SceneObject) -> str:
        """See `Kit.spot_in_words`."""
        x, y, _ = thing.pose.position
        return f"at x = {x:.3f} m, y = {round(y, 3) + 0.0:.3f} m"

    def build(self, options: RunOptions, vision: VisionModel | None = None) -> Tabletop[MujocoWorld]:
        """See `Kit.build`. Raises InputError for an unknown level or world."""
        from spca_core.ports.proposer import NotUnderstood
        from spca_sense.detection import make_detector
        from spca_sim.mujoco_world import MujocoWorld
        from spca_tabletop.environment import Tabletop
        from spca_tabletop.language.understanding import ways_to_read
        from spca_tabletop.presets import draw_table, load_table

        world, level = load_table(options)
        layout, drawn = draw_table(options.preset, options.seed, world, level)
        table = MujocoWorld(world, options.noise, drawn)
        table.draw_ahead()
        detector = make_detector(options.detector, world)
        environment = Tabletop(level, world, layout, table, options.seed, vision=vision, detector=detector)
        with suppress(NotUnderstood):  # read once already, while that is drawn: the first time takes longest
            ways_to_read(environment.task.description)
        if options.rate is not None:
            from spca_sim.pacer import Pacer

            pacer = Pacer(options.rate)
            table.on_contacts(lambda sample: pacer.pace(sample.stamp))
        return environment

    @contextmanager
    def session(
        self, options: RunOptions, vision: VisionModel | None = None
    ) -> Iterator[Tabletop[MujocoWorld]]:
        """See `Kit.session`."""
        with closing(self.build(options, vision)) as environment, ExitStack() as opened:
            if options.view is True:
                from spca_sim.live_view import LiveView

                opened.enter_context(LiveView(environment.table))
            yield environment

    def twin(self, options: RunOptions) -> TabletopTwin:
        """See `Kit.twin`."""
        from spca_tabletop.presets import load_table
        from spca_tabletop.rehearsal.twin import TabletopTwin

        return TabletopTwin(load_table(options)[0])

    def documents(self, options: RunOptions) -> Iterator[Sequence[DocumentMaker]]:
        """The signals; then, unless they are switched off, the videos of run and rehearsals."""
        from spca_tabletop.signals import write_signals

        yield (write_signals,)
        if options.video:
            from spca_tabletop.video import write_rehearsal_videos, write_video

            yield write_video, write_rehearsal_videos

    def ros(self) -> type[TabletopRos]:
        """See `spca_ros.stages.RosSide`."""
        from spca_tabletop.ros.executor_node import TabletopRos

        return TabletopRos

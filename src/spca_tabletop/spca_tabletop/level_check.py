"""`spca check` for tabletop levels.

It reports the referee's findings, and whether the built-in proposer can read the task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spca_core.layout import Layout, nominal_layout
from spca_core.names import TABLE_SYMBOL, symbol_of, words_of
from spca_core.ports.kit import LevelFindings
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import resting
from spca_core.scene import Observation, Scene, SceneObject
from spca_core.world import World, load_world
from spca_referee.check import check_level
from spca_referee.level import Level, load_level, starting_layout, task
from spca_sense.relations import relate
from spca_tabletop.language.goal import Goal, describe
from spca_tabletop.language.understanding import understand


def examine_level(name_or_path: str, world: str = "") -> LevelFindings:
    """See `Kit.examine`."""
    found = check_level(name_or_path, load_world(world) if world else None)
    findings = LevelFindings(where=str(found.path), errors=found.errors, warnings=found.warnings)
    if found.level is None and found.world is not None:
        models = (thing.model for thing in found.world.objects)
        return findings.model_copy(update={"reading": f"a world with {', '.join(models)}"})
    if found.level is None or found.world is None or found.layout is None or found.errors:
        return findings
    try:
        goals = understand(task(found.level), seen := _as_observed(found.layout, found.world))
        warnings = (*found.warnings, *_contradictions(found.level, goals, found.world, seen))
        return findings.model_copy(update={"reading": describe(goals), "warnings": warnings})
    except NotUnderstood as error:
        warning = f"the built-in proposer does not understand the text on the nominal table: {error}"
    except Impossible as error:
        warning = f"the built-in proposer cannot do it on the nominal table: {error}"
    return findings.model_copy(update={"warnings": (*found.warnings, warning)})


def _contradictions(level: Level, goals: Sequence[Goal], world: World, seen: Observation) -> Iterator[str]:
    """Yield where a condition wants a thing elsewhere than the text does, or where it is at the start."""
    symbols = {o.model: symbol_of(o.model) for o in world.objects} | {world.table.model: TABLE_SYMBOL}
    for state in level.success.states:
        thing, wanted = symbols.get(state.thing, ""), symbols.get(state.rests_on or state.inside or "")
        said = [{atom[2] for atom in goal if atom[:2] == ("on", thing)} for goal in goals]
        if wanted and all(said) and not any(wanted in places for places in said):
            places = " or ".join(f"the {words_of(place)}" for place in sorted(set().union(*said)))
            put = f"the text puts the {words_of(thing)} on {places}"
            yield f"{put}, a condition wants it {resting(wanted)}"
        moved = all(any(atom[:2] == ("at", thing) for atom in goal) for goal in goals)
        about = [s for s in level.success.states if s.thing == state.thing], state.model_fields_set
        more = about != ([state], {"thing", "rests_on"}) or any(state.thing in p for p in level.success.pairs)
        if wanted and moved and not more and seen.holds("on", thing, wanted):
            yield f"the text moves the {words_of(thing)}, and its condition holds at the start"


def nominal_observation(name_or_path: str) -> Observation:
    """Return the observation of faultless senses for the nominal table that a level starts from."""
    level = load_level(name_or_path)
    world = load_world(level.world)
    return _as_observed(starting_layout(level.layout, world, nominal_layout(world)), world)


def _as_observed(layout: Layout, world: World) -> Observation:
    """Return the observation of faultless senses for a table."""
    seen = tuple(
        SceneObject(
            id=symbol_of(o.model), kind=o.kind, pose=layout.poses[o.model], size=o.size, confidence=1.0,
            colour=words_of(symbol_of(o.model)).split()[0],  # a world's models are named for it
        )
        for o in world.objects if o.model in layout.poses
    )  # fmt: skip
    facts, _ = relate(seen, None, world.table.top)
    return Observation.of(Scene(stamp=0.0, objects=seen, relations=tuple(facts), sentences=()))

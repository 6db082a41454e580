"""Do what a sentence says on each table of own_worlds.yaml, laid as by a new user, and judge by ground truth.

Run it from the checkout:  .venv/bin/python benchmarks/own_worlds.py runs/own [NAME …]

A look judges each run, as in `spca do`. `false`: told as a success, though not everything holds in the end.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml

import spca
from spca_core.geometry import Pose
from spca_core.kinds import KINDS
from spca_core.names import TABLE, symbol_of
from spca_core.world import World, load_world
from spca_sense.catalogue import PALETTE
from spca_sense.outline import distance_to_polygon, outline_of
from spca_sim.physics_model import build_physics
from spca_sim.recording import recorded_states
from spca_sim.variation import SimVariation

TABLES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
COLOURS = {colour.name: colour.rgb for colour in PALETTE}
LEVEL = 0.004  # metres by which a thing may be above, or sunk into, what carries it
LAST = 0.3  # simulated seconds before the end in which things touch that touch in the end


def laid(name: str, folder: Path) -> Path:
    """Write the world and the level of a table into a folder, and return the level's file."""
    objects, layout = [], {}
    spare = [(x, y) for x in (-0.1, 0.1, 0.3, 0.5, 0.7, 0.9) for y in (-0.4, -0.2, 0.0, 0.2, 0.4)]
    for at, (model, (size, place, *yaw)) in zip(spare, TABLES[name]["things"].items(), strict=False):
        a, *rest = size if isinstance(size, list) else [size, size]
        edges = (a, *rest) if len(rest) == 2 else (a, a, *rest)
        kind, colour = symbol_of(model).split("_")[:2]
        density = 700 if KINDS[kind].solid else 300
        colour = TABLES[name].get("colours", COLOURS).get(model) or COLOURS[colour]
        thing = {"model": model, "kind": kind, "colour": colour, "size": edges, "position": at}
        objects.append(thing | {"mass": 0.01 + density * math.prod(edges), "friction": 1.0})
        carried = {"on_top_of": place} if isinstance(place, str) else {"at": place}
        layout[model] = carried | {"yaw": yaw[0] if yaw else 0.0}
    say = TABLES[name]["say"]
    level = {"task_group": "own", "task_id": name, "title": say, "description": say, "difficulty": "own"}
    level |= {"time_limit_s": 600, "judge": "look", "world": "world.yaml", "layout": layout}
    world = {"name": name, "work_area": {"x": [0.32, 0.66], "y": [-0.34, 0.34]}, "objects": objects}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "world.yaml").write_text(json.dumps({"extends": "tabletop", **world}))
    (folder / "level.yaml").write_text(json.dumps(level))
    return folder / "level.yaml"


def holds(words: str, world: World, poses: dict[str, Pose], touching: set[frozenset[str]]) -> bool:
    """Return whether things are as said in the end: `on A B`, `in A B`, `beside A B` or `table A`."""
    how, a, b = (*words.split(), TABLE)[:3]
    thing, stands = world.object(a), poses[a].position[2] - world.object(a).size[2] / 2
    if how == "table":
        return frozenset((a, TABLE)) in touching and abs(stands - world.table.top) < LEVEL
    other, its = world.object(b), outline_of(world.object(b).kind, poses[b], world.object(b).size)
    within = distance_to_polygon(np.array([poses[a].position[:2]]), its)[0]
    rim = poses[b].position[2] + other.size[2] / 2
    if how == "in":
        return within < 0 and stands < rim and frozenset((a, TABLE)) not in touching
    if frozenset((a, b)) not in touching:
        return False
    if how == "beside":
        return within > 0 and stands < rim - LEVEL
    return within < max(thing.size) / 2 and abs(stands - poses[b].position[2] - other.deck) < LEVEL


def outcome(name: str, folder: Path) -> tuple[str, str]:
    """Run a table's sentence; return how it ended and what was told."""
    told = spca.run(str(laid(name, folder)), out=folder / "run", report=False, proposer="builtin").result
    states = recorded_states(folder / "run")
    met = TABLES[name]["ends"] == "refused" and not told.success
    if states and TABLES[name]["ends"] != "refused":
        world = load_world(folder / "world.yaml")
        model, index = build_physics(world, states[-1].objects, SimVariation())
        data = mujoco.MjData(model)
        data.qpos[:] = states[-1].qpos
        mujoco.mj_kinematics(model, data)
        poses = {name: index.item_pose(data, name) for name in states[-1].objects}
        contacts = json.loads((folder / "run" / "contacts.json").read_text())
        touching = {
            frozenset(c["pair"]) for c in contacts if c["end"] > max(d["end"] for d in contacts) - LAST
        }
        ways = TABLES[name]["ends"].split(" | ")
        met = any(all(holds(words, world, poses, touching) for words in way.split("; ")) for way in ways)
    return ("solved" if met else "false" if told.success else "failed"), told.reason


def main() -> None:
    folder, *names = Path(sys.argv[1]), *sys.argv[2:]
    count: Counter[str] = Counter()
    for name in names or TABLES:
        how, told = outcome(name, folder / name)
        count[how] += 1
        print(f"{how:<7} {name}: {TABLES[name]['say']} -> {told}", flush=True)
    print(dict(count))


if __name__ == "__main__":
    main()

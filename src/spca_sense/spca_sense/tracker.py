"""Tracks objects over frames: stable ids, temporarily hidden objects, objects that disappeared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.kinds import KINDS, MESHES, STACKABLE, UNKNOWN
from spca_core.names import words_of
from spca_core.scene import OBSTRUCTED, Scene, SceneObject
from spca_core.trajectory import JointState
from spca_sense.association import (
    BY_ELIMINATION,
    PARTLY_SEEN,
    PIECE,
    Presence,
    associate,
    camera_motion,
    fills,
    is_piece,
    new_id,
    obstructed,
    presence,
    remembered_there,
)
from spca_sense.detection import Detection, Detector, Look, square_yaw
from spca_sense.outline import footprint, polygon_area, shared_area
from spca_sense.relations import describe, relate
from spca_sense.view import JOINT, LEVEL, TOLERANCE, fused

Things = dict[str, SceneObject]
"""Things by their names."""
Whereabouts = dict[str, Presence]
"""What is seen where each known thing was, by its name."""

_FADE = 0.9  # confidence in a hidden thing is multiplied by this at each look
_LEAST = 0.1
IN_HAND_CONFIDENCE = 0.8
"""Confidence in a held thing that the camera does not see."""
IN_HAND = 0.06
"""Largest distance in metres between the tool and what it holds."""
_KIND_ORDER = {kind: order for order, kind in enumerate(KINDS)}


class SceneTracker:
    """Maintains the scene over successive looks, from frames and the arm's report of what it holds."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.forget()

    def forget(self) -> None:
        """Forget everything, as for another table."""
        self._memory: Things = {}
        self._missing: Things = {}
        self._held: str | None = None
        self.scene: Scene | None = None
        """Scene of the last look, or None before the first."""
        self._camera = np.eye(4)

    def adopt(self, scene: Scene) -> None:
        """Replace the memory by a scene, for example after the world was restored from a checkpoint."""
        self.forget()
        self.scene = scene
        self._memory = {o.id: o for o in scene.objects}
        self._held = next((f.args[0] for f in scene.relations if f.predicate == "held"), None)

    def update(
        self,
        frame: RgbdFrame,
        held: str | None = None,
        tool: Pose | None = None,
        joints: JointState | None = None,
        others: Sequence[RgbdFrame] = (),
    ) -> Scene:
        """Return the scene after one more frame, explained together with `others` of the same table.

        `held` is the id of what the arm believes to hold, `tool` the pose of its tool centre point in `world`
        (between the fingertips), `joints` its state when the frame was taken; each may be unknown (None).
        """
        known = {**self._missing, **self._memory}
        look = self._look(frame, others)
        knock = None if obstructed(look.view) else camera_motion(look.detections, self._memory)
        notes: list[str] = []
        if knock is not None:
            self._camera = knock @ self._camera
            look = self._look(frame, others)
            shift = float(np.linalg.norm(((knock - np.eye(4)) @ frame.pose.matrix())[:2, 3]))
            notes.append(f"the camera has been moved; allowed for, {1000 * shift:.0f} mm")
        notes += [*look.notes, *([OBSTRUCTED] if obstructed(look.view) else [])]
        if held is not None and tool is not None:
            known[held] = self._in_hand(held, known.get(held), tool)
        whereabouts: Whereabouts = {n: presence(look, o) for n, o in known.items()}
        whereabouts |= dict.fromkeys(self._missing, "missing")
        if self._held is not None and self._held != held:  # it was let go of somewhere
            whereabouts[self._held] = "gone"
        objects = self._seen(look, known, whereabouts, frame.stamp)
        held = self._checked_held(held, known, objects, tool, joints, notes)
        if held is not None and held not in objects:
            unseen = {"visible": False, "confidence": IN_HAND_CONFIDENCE}
            objects[held] = known[held].model_copy(update=unseen)
        hidden = self._hidden(look, known, whereabouts, objects)
        objects = {n: o for n, o in objects.items() if o.kind != UNKNOWN or not _explained(o, hidden)}
        objects |= hidden
        objects |= self._beneath(look, known, objects, held, notes)
        return self._conclude(known, objects, held, notes, frame.stamp)

    def _look(self, frame: RgbdFrame, others: Sequence[RgbdFrame]) -> Look:
        """Detect what frames show, that of a camera corrected which has been moved since the first look."""
        if not np.array_equal(self._camera, np.eye(4)):
            frame = replace(frame, pose=Pose.from_matrix(self._camera @ frame.pose.matrix()))
        if others:
            frame = fused((frame, *others), self._detector.catalogue.table_top)
        return self._detector.detect(frame)

    def _seen(self, look: Look, known: Things, whereabouts: Whereabouts, stamp: float) -> Things:
        """Return everything that the frame shows, by name."""
        ids = {
            i: name
            for i, name in associate(look.detections, known, whereabouts).items()
            if whereabouts[name] != "hidden" or not is_piece(look.detections[i], known[name])
        }
        hidden = [o for n, o in known.items() if whereabouts[n] == "hidden" and n not in ids.values()]
        taken = [name for name, thing in known.items() if thing.kind != UNKNOWN]
        # New ones, from left to right.
        for i, d in sorted(enumerate(look.detections), key=lambda pair: (-pair[1].xy[1], pair[1].xy[0])):
            if d.seen and i not in ids and not any(is_piece(d, o) for o in hidden):
                ids[i] = new_id(d.kind, d.colour, [*taken, *ids.values()])
        objects = {
            name: _object(name, _as_known(look.detections[i], known.get(name)), stamp)
            for i, name in ids.items()
            if look.detections[i].seen
        }
        return {name: self._where_it_was(o, known, objects, look) for name, o in objects.items()}

    def _where_it_was(self, thing: SceneObject, known: Things, objects: Things, look: Look) -> SceneObject:
        """Put a thing back where it was if, partly covered, it seems to have slid along its cover's edge.

        It has not, as long as it may be where it was before, or where it was pushed with what it carries; a
        small step is believed where it is seen as well as before.
        """
        before = known.get(thing.id)
        if before is None or thing.confidence > PARTLY_SEEN or not KINDS[thing.kind].cubic:
            return thing
        remembered = before.confidence * _FADE
        doubtful = 0.0 if remembered > thing.confidence else JOINT
        slid = math.dist(before.pose.position, thing.pose.position)
        if not doubtful < slid < thing.size[0]:
            return thing
        better = [o for o in objects.values() if o.confidence > thing.confidence]
        for there in self._places(before, known, objects):
            if presence(look, there) != "gone" and not _crowded(there, better):
                confidence = max(remembered, thing.confidence)
                return thing.model_copy(update={"pose": there.pose, "confidence": confidence})
        return thing

    def _places(self, thing: SceneObject, known: Things, objects: Things) -> list[SceneObject]:
        """Return a covered thing where it may be: in its place, or shifted like what lies on it."""
        places = [thing]
        facts = self.scene.relations if self.scene is not None else ()
        for burden in (f.args[0] for f in facts if f.predicate == "on" and f.args[1] == thing.id):
            if burden in known and burden in objects:
                now, then = objects[burden].pose.position, known[burden].pose.position
                x, y, z = thing.pose.position
                position = (x + now[0] - then[0], y + now[1] - then[1], z)
                pose = thing.pose.model_copy(update={"position": position})
                places.append(thing.model_copy(update={"pose": pose}))
        return places

    def _checked_held(
        self,
        held: str | None,
        known: Things,
        objects: Things,
        tool: Pose | None,
        joints: JointState | None,
        notes: list[str],
    ) -> str | None:
        """Return the id of the object that is held, as far as that can be seen; None if none is."""
        if held is None:
            return None
        if held not in known:
            notes.append(f"the arm says it holds {held}, which has never been seen")
            return None
        thing = objects.get(held)
        mesh = MESHES.get(known[held].kind)
        widths = [grasp.width for grasp in mesh.grasps] if mesh else known[held].size[:2]
        if joints is not None and min(abs(joints.gripper_gap - w) for w in widths) > JOINT:
            notes.append(f"the arm says it holds {held}, but the gripper's gap does not fit it")
        if thing is None:
            return held
        away = tool is not None and math.dist(thing.pose.position, tool.position) > IN_HAND
        standing = tool is None and abs(thing.bottom - self._detector.catalogue.table_top) < LEVEL
        if away or standing:
            notes.append(f"the arm says it holds {held}, but that is seen elsewhere")
            return None
        return held

    def _in_hand(self, name: str, thing: SceneObject | None, tool: Pose) -> SceneObject:
        """Return a held thing where the tool is: its centre lies between the fingertips."""
        pose = Pose.from_xyz_yaw(*tool.position, square_yaw(tool.yaw))
        if thing is not None:
            return thing.model_copy(update={"pose": pose})
        edge, colour = self._detector.catalogue.cube_edge, words_of(name).split()[0]
        return SceneObject(
            id=name, kind="cube", colour=colour, pose=pose, size=(edge, edge, edge),
            confidence=IN_HAND_CONFIDENCE,
        )  # fmt: skip

    def _hidden(self, look: Look, known: Things, whereabouts: Whereabouts, objects: Things) -> Things:
        """Return what was not found but may still be where it was, behind something."""
        hidden = {}
        strange = [o for o in objects.values() if o.kind == UNKNOWN]
        named = [o for o in objects.values() if o.kind != UNKNOWN]
        for name, thing in known.items():
            if name in objects or name in self._missing or thing.kind == UNKNOWN or name == self._held:
                continue
            # What stands where it was and looks like nothing known may be the thing with what leans on it.
            there = any(_explained(o, {name: thing}) for o in strange)
            taken = any(fills(o, thing) for o in named)
            if taken or (whereabouts[name] == "gone" and not there):
                continue
            # A cube that still carries another one does not become less certain with time.
            carries = any(remembered_there(d, thing) for d in look.detections if not d.seen)
            fade = 1.0 if carries and not thing.visible else _FADE
            confidence = max(thing.confidence * fade, _LEAST)
            places = self._places(thing, known, objects)
            place = next((p for p in places if not _crowded(p, objects.values())), thing)
            hidden[name] = place.model_copy(update={"visible": False, "confidence": confidence})
        return hidden

    def _beneath(
        self, look: Look, known: Things, objects: Things, held: str | None, notes: list[str]
    ) -> Things:
        """Return names for unseen cubes that must support others: by place, elimination, or `unknown`."""
        named: Things = {}
        unnamed = [
            d
            for d in look.detections
            if not d.seen
            and not any(remembered_there(d, o) for o in objects.values() if not o.visible)
            # Nor is there one below what is in the gripper.
            and (held is None or math.dist(d.xy, objects[held].pose.position[:2]) > JOINT)
        ]
        missing = [o for name, o in known.items() if name not in objects and KINDS[o.kind].cubic]
        for support in unnamed:
            if len(missing) == len(unnamed) == 1:
                name, colour = missing[0].id, missing[0].colour
                carries = "is taken to be the cube that carries others unseen: no other is missing"
                notes.append(f"{name} {carries}")
                named[name] = _object(name, support, missing[0].last_seen, colour, BY_ELIMINATION)
            else:
                name = new_id("cube", UNKNOWN, [*objects, *named])
                x, y = support.xy
                notes.append(f"an unseen cube must carry others at ({x:.3f}, {y:.3f})")
                named[name] = _object(name, support, 0.0)
        return named

    def _conclude(
        self, known: Things, objects: Things, held: str | None, notes: list[str], stamp: float
    ) -> Scene:
        self._missing = {n: o for n, o in known.items() if n not in objects and o.kind != UNKNOWN}
        lost = "{} is missing: it is not where it was, and nowhere else in sight"
        notes += [lost.format(name) for name in sorted(self._missing)]
        ordered = sorted(objects.values(), key=lambda o: (_KIND_ORDER[o.kind], o.id))
        relations, doubts = relate(ordered, held, self._detector.catalogue.table_top)
        scene = Scene(
            stamp=stamp, objects=tuple(ordered), relations=tuple(relations),
            sentences=describe(ordered, relations), notes=(*notes, *doubts),
        )  # fmt: skip
        self._memory, self._held, self.scene = objects, held, scene
        return scene


def _object(
    name: str, detection: Detection, stamp: float, colour: str | None = None, confidence: float | None = None
) -> SceneObject:
    colour = colour or detection.colour
    confidence = detection.confidence if confidence is None else confidence
    return SceneObject(
        id=name, kind=UNKNOWN if colour == UNKNOWN else detection.kind, colour=colour, pose=detection.pose,
        size=detection.size, confidence=confidence, visible=detection.seen, last_seen=stamp,
    )  # fmt: skip


def _as_known(detection: Detection, before: SceneObject | None) -> Detection:
    """Return a detection of a known thing with what of it does not change: its kind and colour, its height.

    One that hides what carries it seems to reach to the table; a solid that leans looks like another kind.
    """
    if before is None:
        return detection
    x, y, z = detection.pose.position
    size, height, kind = detection.size, detection.size[2], before.kind
    if detection.kind != kind:
        size, z = before.size, z + (before.size[2] - height) / 2
        detection = replace(detection, confidence=BY_ELIMINATION)
    elif kind in STACKABLE and height - before.size[2] >= LEVEL:
        size, z = (*size[:2], before.size[2]), z + (height - before.size[2]) / 2
    pose = detection.pose.model_copy(update={"position": (x, y, z)})
    return replace(detection, kind=kind, colour=before.colour, pose=pose, size=size)


def _crowded(thing: SceneObject, others: Iterable[SceneObject]) -> bool:
    """Return whether a thing would reach into one of those beside it."""
    own = footprint(thing)
    return any(
        shared_area(own, footprint(other)) > TOLERANCE * min(*thing.size[:2], *other.size[:2])
        for other in others
        if other.id != thing.id and other.bottom < thing.top - LEVEL and thing.bottom < other.top - LEVEL
    )


def _explained(strange: SceneObject, things: Things) -> bool:
    """Return whether something of no known kind is for a good part where one of the things is."""
    own = footprint(strange)
    return any(shared_area(own, footprint(o)) > PIECE * polygon_area(own) for o in things.values())

"""Adds a vision model's remarks to the detector's scene.

They are quoted as hearsay, and only where they do not contradict the detector.

The detector decides what exists and where. A remark about a thing that it does not see, or one that
contradicts a relation that it sees, is kept out of the scene's sentences and goes into its notes. Whatever a
remark says, it is a quotation: text that was printed on something in the picture cannot become an instruction
by being read aloud.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.proposer import ModelError
from spca_core.ports.vision import VisionModel
from spca_core.scene import Scene
from spca_core.task import Task

PREFIX = "Remark of an image model, not verified: "
MOST_REMARKS = 8
LONGEST_REMARK = 160
"""Characters."""

_COLOUR = r"red|green|blue|yellow|orange|purple|pink|white|black|brown|grey|gray|cyan"
_KIND = r"cube|block|box|brick|plate|disc|disk|dish"
_THING = rf"(?P<{{0}}colour>{_COLOUR}) (?P<{{0}}kind>{_KIND})s?\b"
_MENTION = re.compile(_THING.format(""), re.IGNORECASE)
_RESTS = re.compile(
    rf"{_THING.format('a')}(?: that)? (?:is|are|stands?|lies|lie|sits?|rests?)(?: placed| sitting| lying)? "
    rf"(?:on top of|on|upon) (?:the|a|an) (?:(?P<table>table)|{_THING.format('b')})",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|never|without|neither|nor)\b|n't\b", re.IGNORECASE)
_CUBES = ("cube", "block", "box", "brick")


def with_remarks(scene: Scene, vision: VisionModel, image: NDArray[np.uint8], task: Task) -> Scene:
    """The scene with what a vision model says of its image.

    A model that fails leaves a note, and the scene as it is.
    """
    try:
        sentences = vision.describe(image, task.title, task.description)
    except ModelError as error:
        return scene.model_copy(update={"notes": (*scene.notes, f"no remarks of the vision model: {error}")})
    return fuse(scene, sentences)


def fuse(scene: Scene, sentences: tuple[str, ...]) -> Scene:
    """The scene with the remarks that it does not contradict, quoted.

    Rejected remarks and objects that no remark mentions are noted.
    """
    remarks: list[str] = []
    notes: list[str] = []
    for sentence in sentences:
        remark = quotable(sentence)
        if not remark:
            continue
        if why := disagreement(scene, remark):
            notes.append(f"the vision model says '{remark}', but {why}")
        elif len(remarks) < MOST_REMARKS:
            remarks.append(f'{PREFIX}"{remark}"')
        else:
            notes.append(f"one remark too many of the vision model: '{remark}'")
    mentioned = {symbol for s in sentences for symbol in mentions(quotable(s))}
    unseen = [
        o.id for o in scene.objects if o.visible and o.kind in (*SOLIDS, *SUPPORTS) and o.id not in mentioned
    ]
    if unseen and sentences:
        notes.append(f"the vision model does not mention {', '.join(words_of(s) for s in unseen)}")
    return scene.model_copy(
        update={"sentences": (*scene.sentences, *remarks), "notes": (*scene.notes, *notes)}
    )


def quotable(sentence: str) -> str:
    r"""The sentence as one printable line of bounded length, without quotes, brackets or digits.

    >>> quotable('It says:\n"</scene> {system} `rm`" 3 times')
    "It says: '/scene system 'rm'' times"
    """
    text = "".join(c for c in sentence if c.isprintable() or c.isspace())
    text = re.sub(r"[\d<>{}\[\]\\\\|#*_~]", "", text)
    text = re.sub(r"[\"`“”„«»]", "'", text)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_REMARK else f"{text[: LONGEST_REMARK - 1]}…"


def disagreement(scene: Scene, remark: str) -> str:
    """What the detector's scene says against a remark, or ""."""
    negated = bool(_NEGATED.search(remark))
    seen = {o.id for o in scene.objects}
    missing = [symbol for symbol in mentions(remark) if not any(s.startswith(symbol) for s in seen)]
    if missing and not negated:
        return f"the detector sees no {words_of(missing[0])}"
    stated = resting(remark)
    if stated is None:
        return ""
    above, below = stated
    supports = [f.args[1] for f in scene.relations if f.predicate == "on" and f.args[0] == above]
    if supports and below not in supports:
        return f"the detector sees the {words_of(above)} on the {words_of(supports[0])}"
    return ""


def resting(remark: str) -> tuple[str, str] | None:
    """What rests on what according to a remark, as symbols, or None.

    >>> resting("The red cube is on the table.")
    ('cube_red', 'table')
    """
    match = _RESTS.search(remark)
    if match is None or _NEGATED.search(remark):
        return None
    below = TABLE_SYMBOL if match["table"] else _symbol(match["bcolour"], match["bkind"])
    return _symbol(match["acolour"], match["akind"]), below


def mentions(remark: str) -> list[str]:
    """The symbols of the cubes and plates that a remark names by colour and kind."""
    return [_symbol(m["colour"], m["kind"]) for m in _MENTION.finditer(remark)]


def _symbol(colour: str, kind: str) -> str:
    return f"{'cube' if kind.lower() in _CUBES else 'plate'}_{colour.lower()}"

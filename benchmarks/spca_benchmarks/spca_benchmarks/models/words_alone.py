"""Observations from a vision model's sentences alone, as the published system made them.

The detector still tells `ctx` where things are, but nothing that it sees reaches the planner or its critics.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spca_core.names import TABLE_SYMBOL
from spca_core.plan import Task
from spca_core.ports.chat import VisionModel
from spca_core.ports.proposer import ModelError
from spca_core.scene import Fact, Observation, Scene
from spca_sense.remarks import MOST_REMARKS, NEGATED, NOUNS, RESTS, mentioned, quotable


class WordsAlone(VisionModel):
    """Makes the observation of what another vision model says."""

    def __init__(self, model: VisionModel) -> None:
        self._model = model

    def describe(self, image: NDArray[np.uint8], title: str, description: str) -> tuple[str, ...]:
        """See `VisionModel`."""
        return self._model.describe(image, title, description)

    def observation(self, scene: Scene, image: NDArray[np.uint8], task: Task) -> Observation:
        """See `VisionModel`. Nothing was seen where the model fails, as its ledger records."""
        try:
            return observed_in_words(scene, self.describe(image, task.title, task.description))
        except ModelError:
            return observed_in_words(scene, ())


def observed_in_words(scene: Scene, sentences: tuple[str, ...]) -> Observation:
    """The observation that a vision model's sentences amount to, if they are all there is.

    An object is what is mentioned by colour and kind; it rests where a sentence says so, and is clear if
    none puts something on it. `scene`, the detector's, gives the time stamp and is kept for the report.
    """
    quoted = tuple(filter(None, (quotable(s) for s in sentences)))[:MOST_REMARKS]
    things = list(dict.fromkeys(_symbol(*phrase) for sentence in quoted for phrase in mentioned(sentence)))
    stated = [pair for sentence in quoted if (pair := resting(sentence)) is not None]
    facts = [Fact(predicate="on", args=pair) for pair in dict.fromkeys(stated)]
    facts += [Fact(predicate="clear", args=(t,)) for t in things if t not in {lower for _, lower in stated}]
    return Observation(
        stamp=scene.stamp, objects={**{t: t.partition("_")[0] for t in things}, TABLE_SYMBOL: "table"},
        facts=tuple(facts), sentences=quoted, scene=scene)  # fmt: skip


def resting(remark: str) -> tuple[str, str] | None:
    """Return what rests on what according to a remark, as symbols, or None.

    >>> resting("The red cube is on the table.")
    ('cube_red', 'table')
    """
    match = RESTS.search(remark)
    if match is None or NEGATED.search(remark):
        return None
    below = TABLE_SYMBOL if match["table"] else _symbol(match["bcolour"], match["bkind"])
    return _symbol(match["acolour"], match["akind"]), below


def _symbol(colour: str, noun: str) -> str:
    """The symbol of a thing of that colour and kind; of several kinds, the commonest."""
    return f"{NOUNS[noun.lower()][0]}_{colour.lower()}"

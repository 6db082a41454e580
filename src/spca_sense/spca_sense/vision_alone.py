"""What a planner would see if a vision model were all there is: an ablation, as the published system did it.

Objects and relations are those of the model's sentences. The detector still tells `ctx` where things are, but
nothing that it sees reaches the planner or its critics.
"""

from __future__ import annotations

from spca_core.names import TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.scene import Fact, Scene
from spca_sense.remarks import MOST_REMARKS, mentions, quotable, resting


def observed_in_words(scene: Scene, sentences: tuple[str, ...]) -> Observation:
    """The observation that a vision model's sentences amount to.

    An object is what is mentioned by colour and kind; it rests where a sentence says so, and is clear if
    none puts something on it. `scene`, the detector's, gives the time stamp and goes into `detail` for the
    report.
    """
    quoted = tuple(filter(None, (quotable(s) for s in sentences)))[:MOST_REMARKS]
    things = list(dict.fromkeys(symbol for sentence in quoted for symbol in mentions(sentence)))
    stated = [pair for sentence in quoted if (pair := resting(sentence)) is not None]
    below = {lower for _, lower in stated}
    facts = [Fact(predicate="on", args=pair) for pair in dict.fromkeys(stated)]
    facts += [Fact(predicate="clear", args=(thing,)) for thing in things if thing not in below]
    return Observation(
        stamp=scene.stamp,
        objects={**{thing: thing.partition("_")[0] for thing in things}, TABLE_SYMBOL: "table"},
        facts=tuple(facts),
        sentences=quoted,
        scene=scene,
    )

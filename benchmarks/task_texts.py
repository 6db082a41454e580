"""Measure how task texts are understood: sentences made of constituents, and those of strangers.

Run it from the checkout:  .venv/bin/python benchmarks/task_texts.py --sentences 2000 --seed 1

The sentences and their meanings come from src/spca_tabletop/test/sentences.py, which knows nothing of the
parser, and from strangers.yaml beside it. `misread` counts goals that are not what the sentence means, or any
goal for a sentence that cannot be carried out; it must be 0. `refused rightly`: refusals of the latter kind.
`dropped` counts words that, put into such a sentence at random, change no goal on four tables; must be 0.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import yaml

from spca_core.paths import ROOT
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.goal import Goal
from spca_tabletop.language.lexicon import words_of_tokens
from spca_tabletop.language.understanding import describe, understand
from spca_testing.observations import CUBES, PLATES, goals, scene, task

TESTS = ROOT / "src" / "spca_tabletop" / "test"
sys.path.insert(0, str(TESTS))
from sentences import Sentence, Way, agrees, sentences  # noqa: E402

TABLES = (
    scene(),
    scene(row=("cube_red", "cube_green", "cube_blue"), depth=("cube_green", "cube_red", "cube_blue")),
    scene(on={"cube_red": "cube_green", "cube_blue": "plate_blue"}),
    scene(objects=(*CUBES, "cube_yellow", *PLATES, "plate_yellow")),
)
GRAMMATICAL = frozenset({"THE", "OF", "THAT", "IS", "MUST", "COMMA", "AND", "OR", "BUT", "SEP", "WITH"})
"""Tokens that only hold a sentence together."""
REDUNDANT = {
    "what a table has to show, and may show of every thing that is meant": (
        "LARGEST SMALLEST MEDIUM FREE EMPTY OTHER LEFT RIGHT MIDDLE NEAR FAR BEHIND IN_FRONT_OF LEFT_OF "
        "RIGHT_OF CLOSEST_TO FARTHEST_FROM SQUARE LONG ROLLS OUTER ANOTHER ROUND"
    ),
    "how many there are of one, or that any do": "A ONE ALL EACH ANY BOTH EACH_OTHER EVERYTHING WHICHEVER",
    "another word for what is said there already": (
        "CUBE CUBES BLOCK BLOCKS PLATE PLATES TRAY TRAYS THING THINGS ONES TABLE COLOUR IT THEM TOWER "
        "OWN_COLOUR LIFT LIFTED PICK TAKE CHOOSE PUT PLACED STACK UNSTACK BUILD THROW DISCARD DISCARDED "
        "TOUCH TOUCHES TOUCHED SHUFFLE ON IN OVER AT TO FROM TOP BOTTOM FIRST THEN DOWN UP RESPECTIVELY "
        "BRICK BRICKS BOX DISK DISC COLOURED SORT TOSS AWAY SOMETHING"
    ),
    "true of every task, emphatic, or said of what is dear": "RELEASE GROUND YOU LITTLE just exactly",
}
"""Tokens, and words, that add nothing in some places, by the reason why."""


def strangers() -> Iterator[Sentence]:
    """The sentences of strangers.yaml; what they mean is a goal, up to what things stand on."""
    for meaning, texts in yaml.safe_load((TESTS / "strangers.yaml").read_text()).items():
        ways = () if meaning == "nothing" else tuple(map(_way, goals(meaning)))
        yield from (Sentence(text, ways) for text in texts)


def _way(goal: Goal) -> Way:
    rules = frozenset(atom for atom in goal if atom[0] in ("kept", "stays", "unfit"))
    order = tuple((a, b) for predicate, a, *others in goal for b in others if predicate == "before")
    ends = goal - rules - {("before", *pair) for pair in order}
    return Way(frozenset(ends), rules, order)


def judged(sentence: Sentence, show: bool) -> str:
    """What became of a sentence."""
    right = "refused needlessly" if sentence.ways else "refused rightly"
    try:
        found = understand(task(sentence.text), scene())
    except (NotUnderstood, Impossible) as error:
        if show and sentence.ways:
            print(f"{right}: {sentence.text}\n    {str(error).partition(' What works')[0]}")
        return right
    if all(any(agrees(goal, way) for way in sentence.ways) for goal in found):
        return "understood"
    print(f"misread: {sentence.text}\n    as: {describe(found)}")
    return "misread"


def dropped(count: int, seed: int) -> int:
    """Print the words that changed nothing, out of so many; their number."""
    redundant = {*GRAMMATICAL, *(token for tokens in REDUNDANT.values() for token in tokens.split())}
    words = [(t, w) for t, ws in words_of_tokens().items() for w in ws if not {t, w} & redundant]
    rng = random.Random(seed)
    texts = [s.text.rstrip(".?") for s in sentences(count, seed) if s.ways]
    found = 0
    for _ in range(count):
        said = rng.choice(texts).split()
        token, word = rng.choice(words)
        place = rng.randint(0, len(said))
        more = " ".join([*said[:place], word, *said[place:]])
        same = [
            _goals(more, i) == before for i in range(len(TABLES)) if (before := _goals(" ".join(said), i))
        ]
        if same and all(same):
            print(f"dropped: '{word}' ({token}) in: {more}")
            found += 1
    return found


@lru_cache
def _goals(text: str, table: int) -> frozenset[Goal]:
    """What a text asks for on one of the tables; nothing where it is refused."""
    try:
        return frozenset(understand(task(text), TABLES[table]))
    except (NotUnderstood, Impossible):
        return frozenset()


def main() -> None:
    """Print how many of each set were understood, refused and misread."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=1000, help="how many are put into sentences at random")
    parser.add_argument("--show", action="store_true", help="print what is refused needlessly, too")
    args = parser.parse_args()
    sets = {"strangers": list(strangers()), "generated": list(sentences(args.sentences, args.seed))}
    misread = 0
    for name, texts in sets.items():
        counts = Counter(judged(sentence, args.show) for sentence in texts)
        misread += counts["misread"]
        print(f"{name}, {len(texts)}: " + ", ".join(f"{counts[k]} {k}" for k in sorted(counts)))
    lost = dropped(args.words, args.seed)
    print(f"words put in, {args.words}: {lost} dropped")
    sys.exit(misread + lost > 0)


if __name__ == "__main__":
    main()

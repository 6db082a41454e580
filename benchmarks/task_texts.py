"""Measure how task texts are understood: sentences made of constituents, and those of strangers.

Run it from the checkout:  .venv/bin/python benchmarks/task_texts.py --sentences 2000 --seed 1

The sentences and their meanings come from src/spca_tabletop/test/sentences.py, which knows nothing of the
parser, and from strangers.yaml beside it. `misread` counts goals that are not what the sentence means, or any
goal for a sentence that cannot be carried out; it must be 0. `refused rightly`: refusals of the latter kind.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

import yaml

from spca_core.paths import ROOT
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.examples import goals, scene, task
from spca_tabletop.language.goal import Goal
from spca_tabletop.language.understanding import describe, understand

TESTS = ROOT / "src" / "spca_tabletop" / "test"
sys.path.insert(0, str(TESTS))
from sentences import Sentence, Way, agrees, sentences  # noqa: E402


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


def main() -> None:
    """Print how many of each set were understood, refused and misread."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what is refused needlessly, too")
    args = parser.parse_args()
    sets = {"strangers": list(strangers()), "generated": list(sentences(args.sentences, args.seed))}
    misread = 0
    for name, texts in sets.items():
        counts = Counter(judged(sentence, args.show) for sentence in texts)
        misread += counts["misread"]
        print(f"{name}, {len(texts)}: " + ", ".join(f"{counts[k]} {k}" for k in sorted(counts)))
    sys.exit(misread > 0)


if __name__ == "__main__":
    main()

"""The contract of the port `Selector`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca_core.errors import InputError
from spca_programs.plan_world import Candidate, ChoiceContext
from spca_programs.ports.selector import Experience, Selector

CANDIDATES = (
    Candidate(plan=("open drawer_1", "look"), programs=("a",)),
    Candidate(plan=("go_to fridge_1",), programs=("b", "c")),
    Candidate(plan=("take apple_1 table_1", "go_to sink_1", "wash apple_1"), programs=("d",)),
)


def context(wanted: str = "apple") -> ChoiceContext:
    """A context in which something is wanted."""
    return ChoiceContext(
        instruction=f"Bring me the {wanted}.",
        facts=("place:table_1", f"wanted={wanted}"),
        text=f"You want the {wanted}.",
    )


class SelectorContract:
    """Subclass it with `make`; `rounds` updates are enough for it to learn two contexts apart."""

    rounds = 12

    def make(self) -> Selector:
        """A new selector; each time the same."""
        raise NotImplementedError

    def test_probabilities_sum_to_one(self) -> None:
        """For any number of candidates."""
        selector = self.make()
        for count in (1, 2, 3):
            probabilities, value = selector.score(context(), CANDIDATES[:count])
            assert probabilities.shape == (count,)
            assert probabilities.sum() == pytest.approx(1)
            assert (probabilities > 0).all() and np.isfinite(value)

    def test_scoring_changes_nothing(self) -> None:
        """A test leaves no trace."""
        selector = self.make()
        first = selector.score(context(), CANDIDATES)
        assert np.array_equal(selector.score(context(), CANDIDATES)[0], first[0])

    def test_it_learns_which_is_better_where(self) -> None:
        """In one context the first candidate is rewarded, in another one the second."""
        selector = self.make()
        train(selector, {"apple": 0, "pear": 1}, self.rounds)
        assert selector.score(context("apple"), CANDIDATES)[0].argmax() == 0
        assert selector.score(context("pear"), CANDIDATES)[0].argmax() == 1

    def test_it_learns_from_what_was_tried(self) -> None:
        """Outcomes of all candidates count, whatever was chosen and rewarded."""
        selector = self.make()
        train(selector, {"apple": 0}, self.rounds, outcomes=(0.0, 1.0, 0.0))
        assert selector.score(context("apple"), CANDIDATES)[0].argmax() == 1

    def test_what_was_saved_is_loaded(self, tmp_path: Path) -> None:
        """Scores are the same, and so is what is learned from then on."""
        selector, other = self.make(), self.make()
        train(selector, {"apple": 1}, 2)
        selector.save(tmp_path / "selector")
        other.load(tmp_path / "selector")
        for _ in range(2):
            ours, theirs = (s.score(context(), CANDIDATES) for s in (selector, other))
            assert np.allclose(ours[0], theirs[0]) and ours[1] == pytest.approx(theirs[1])
            train(selector, {"apple": 1}, 1)
            train(other, {"apple": 1}, 1)

    def test_what_is_no_selector_is_refused(self, tmp_path: Path) -> None:
        """Damaged, foreign or hostile files: one line, nothing run, nothing changed."""
        selector, path = self.make(), tmp_path / "selector"
        selector.save(path)
        whole = path.read_bytes()
        before = selector.score(context(), CANDIDATES)[0]
        pickled = b"cos\nsystem\n(S'touch " + str(tmp_path / "run").encode() + b"'\ntR."
        for content in (
            b"",
            pickled,
            b"{}\n",
            whole[: len(whole) // 2],
            whole[:-4] + b"\0\0\xc0\x7f",
            b"[" * 100_000,
        ):
            path.write_bytes(content)
            with pytest.raises(InputError) as error:
                selector.load(path)
            assert "\n" not in str(error.value) and str(path) in str(error.value)
        with pytest.raises(InputError):
            selector.load(tmp_path / "absent")
        assert not (tmp_path / "run").exists()
        assert np.array_equal(selector.score(context(), CANDIDATES)[0], before)


def train(selector: Selector, wanted: dict[str, int], rounds: int, **changes: Any) -> None:
    """Sample choices by a fixed seed and reward the wanted ones."""
    rng = np.random.default_rng(3)
    for _ in range(rounds):
        batch = []
        for index in range(48):
            word = list(wanted)[index % len(wanted)]
            probabilities, value = selector.score(context(word), CANDIDATES)
            chosen = int(rng.choice(len(CANDIDATES), p=probabilities / probabilities.sum()))
            sample = {
                "context": context(word),
                "candidates": CANDIDATES,
                "chosen": chosen,
                "probability": float(probabilities[chosen]),
                "value": value,
                "reward": float(chosen == wanted[word]),
                "last": True,
            }
            batch.append(Experience.model_validate(sample | changes))
        selector.learn(batch)

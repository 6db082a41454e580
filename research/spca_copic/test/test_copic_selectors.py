"""Every selector keeps to the contract; the language model's formula is the published one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca_copic.ports import Selector
from spca_copic.ppo import softmax
from spca_copic.selectors import language, make_selector
from spca_core.errors import InputError
from spca_programs.plan_world import Candidate, ChoiceContext, Experience

needs_torch = pytest.mark.skipif(not language.available(), reason=f"needs {language.INSTALL} (several GB)")

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
        selector = self.make()
        probabilities, value = selector.score(context(), CANDIDATES)
        assert probabilities.shape == (3,) and probabilities.sum() == pytest.approx(1)
        assert (probabilities > 0).all() and np.isfinite(value)

    def test_it_learns_which_is_better_where(self) -> None:
        """In one context the first candidate is rewarded, in another one the second."""
        selector = self.make()
        train(selector, {"apple": 0, "pear": 1}, self.rounds)
        assert selector.score(context("apple"), CANDIDATES)[0].argmax() == 0
        assert selector.score(context("pear"), CANDIDATES)[0].argmax() == 1

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
        whole, before = path.read_bytes(), selector.score(context(), CANDIDATES)[0]
        pickled = b"cos\nsystem\n(S'touch " + str(tmp_path / "run").encode() + b"'\ntR."
        for content in (pickled, whole[: len(whole) // 2], whole[:-4] + b"\0\0\xc0\x7f", b"[" * 100_000):
            path.write_bytes(content)
            with pytest.raises(InputError) as error:
                selector.load(path)
            assert "\n" not in str(error.value) and str(path) in str(error.value)
        assert not (tmp_path / "run").exists()
        assert np.array_equal(selector.score(context(), CANDIDATES)[0], before)


def train(selector: Selector, wanted: dict[str, int], rounds: int) -> None:
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
            batch.append(Experience.model_validate(sample))
        selector.learn(batch)


class TestHashedSelector(SelectorContract):
    def make(self) -> Selector:
        return make_selector("hashed")


class Words:
    """A tokenizer of words: a model that knows nothing finds plans of any length about alike.

    With one of letters it would far prefer plans of short words, as a score is per word.
    """

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [sum(map(ord, word)) % 64 for word in text.split()]


def tiny(seed: int = 0) -> Any:
    """A random Llama with two layers, and a selector on it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    # Threads that wait for each other take many times as long as one where the machine is busy.
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    width = 32
    # Llama's 0.02 is for a width of some thousands: here it would let hardly any of a signal through.
    config = LlamaConfig(
        vocab_size=64, hidden_size=width, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=1024, initializer_range=width**-0.5,
    )  # fmt: skip
    return language.LanguageModelSelector(LlamaForCausalLM(config), Words(), seed)


@needs_torch
@pytest.mark.slow
class TestLanguageModelSelector(SelectorContract):
    def make(self) -> Selector:
        return tiny(4)  # which at first prefers the third candidate everywhere, as no test expects


@needs_torch
def test_a_plan_scores_by_its_log_probability_per_word() -> None:
    import torch

    selector = tiny()
    asked, scores = language.question(context(), CANDIDATES), []
    for candidate in CANDIDATES:
        text = language.words_of(candidate)
        head, tail = Words().encode(asked), Words().encode(" " + text)
        with torch.no_grad():
            logs = torch.log_softmax(selector.model(torch.tensor([head + tail])).logits[0], -1)
        of_plan = sum(float(logs[len(head) + k - 1, token]) for k, token in enumerate(tail))
        scores.append(of_plan / len(text.split()))
    assert selector.score(context(), CANDIDATES)[0] == pytest.approx(softmax(np.array(scores)), rel=1e-3)
    read, answered = len(Words().encode(asked)), [len(language.words_of(c).split()) for c in CANDIDATES]
    assert [(u.input_tokens, u.output_tokens) for u in selector.usage] == [(read, n) for n in answered]

"""The optional selectors keep to the contract; the language model's formula is the published one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spca_copic.ppo import softmax
from spca_copic.selectors import language, make_selector
from spca_core.errors import InputError
from spca_programs.contracts.selector_contract import CANDIDATES, SelectorContract, context, train
from spca_programs.ports.selector import Selector

needs_torch = pytest.mark.skipif(not language.available(), reason=f"needs {language.INSTALL}")


class Letters:
    """A tokenizer of single letters."""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(letter) % 64 for letter in text]


def tiny(seed: int = 0) -> Any:
    """A random Llama with two layers, and a selector on it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=1024,
    )  # fmt: skip
    return language.LanguageModelSelector(LlamaForCausalLM(config), Letters(), seed)


@needs_torch
@pytest.mark.slow
class TestLanguageModelSelector(SelectorContract):
    rounds = 6

    def make(self) -> Selector:
        return tiny()


@needs_torch
def test_a_plan_scores_by_its_log_probability_per_word() -> None:
    import torch

    selector = tiny()
    asked, scores = language.question(context(), CANDIDATES), []
    for candidate in CANDIDATES:
        text = language.words_of(candidate)
        head, tail = Letters().encode(asked), Letters().encode(" " + text)
        with torch.no_grad():
            logs = torch.log_softmax(selector.model(torch.tensor([head + tail])).logits[0], -1)
        of_plan = sum(float(logs[len(head) + k - 1, token]) for k, token in enumerate(tail))
        scores.append(of_plan / len(text.split()))
    assert selector.score(context(), CANDIDATES)[0] == pytest.approx(softmax(np.array(scores)), rel=1e-3)


@needs_torch
def test_only_the_last_block_and_the_critic_learn() -> None:
    selector = tiny()
    before = {n: p.detach().clone() for n, p in selector.model.named_parameters()}
    critic = [p.detach().clone() for p in selector.critic.parameters()]
    train(selector, {"apple": 1}, 1)
    changed = {n for n, p in selector.model.named_parameters() if not p.equal(before[n])}
    assert changed and all("lora" in name and ".layers.1." in name for name in changed)
    assert any(not p.equal(old) for p, old in zip(selector.critic.parameters(), critic, strict=True))


def test_an_unknown_selector_and_a_missing_model_are_one_line() -> None:
    with pytest.raises(InputError, match="unknown selector 'best'"):
        make_selector("best")
    with pytest.raises(InputError, match=r"no model ''|needs optional packages"):
        make_selector("language")

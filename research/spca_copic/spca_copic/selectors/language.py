"""The published selector: a causal language model that scores plans as continuations of a question.

The logit of a plan is its log-probability divided by its number of words; LoRA on the last block is the
actor, a small network on that block's output the critic, and the rest is frozen. Needs the optional packages
`torch`, `transformers` and `peft`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from spca_copic.ppo import improve, softmax
from spca_copic.selectors.weights import Learnt, read_weights, write_weights
from spca_core.errors import InputError
from spca_core.result import Usage
from spca_programs.plan_world import Candidate, ChoiceContext, Experience

INSTALL = "pip install torch==2.13.0 transformers==5.23.0 peft==0.21.2"
MODEL_VARIABLE = "SPCA_SELECTOR_MODEL"
_RANK = 8
_RATE = 1e-3
_EPOCHS = 4
_CRITIC_WIDTH = 32
_MOST_TOKENS = 512
"""Of a question; what is older is cut off."""


def available() -> bool:
    """Return whether the optional packages are installed."""
    return all(find_spec(name) is not None for name in ("torch", "transformers", "peft"))


def question(context: ChoiceContext, candidates: Sequence[Candidate]) -> str:
    """The situation in words, the plans, and what is asked."""
    plans = "\n".join(f"- {words_of(candidate)}" for candidate in candidates)
    failed = f" The last plan failed: {context.last_failure}." if context.last_failure else ""
    return (
        f"Task: {context.instruction}\n{context.text}{failed}\nPlans:\n{plans}\n"
        "Question: which of these plans is best?\nAnswer:"
    )


def words_of(candidate: Candidate) -> str:
    """A plan as text."""
    return " then ".join(candidate.plan)


class LanguageModelSelector:
    """See `spca_copic.ports.Selector`.

    `model` is a causal model of the Llama family with its tokenizer, or the folder or GGUF file of one. The
    frozen blocks are computed once for each text; only the last block runs again while learning.
    """

    name = "language"

    def __init__(self, model: Any = None, tokenizer: Any = None, seed: int = 0) -> None:
        torch = _torch()
        if tokenizer is None:
            model, tokenizer = _load(model or os.environ.get(MODEL_VARIABLE, ""))
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(seed)
        last = model.config.num_hidden_layers - 1
        config = LoraConfig(
            r=_RANK, lora_alpha=2 * _RANK, lora_dropout=0.0, target_modules=["q_proj", "v_proj"],
            layers_to_transform=[last],
        )  # fmt: skip
        self.model = get_peft_model(model, config).eval()
        self._tokenizer = tokenizer
        self._llama: Any = self.model.get_base_model()
        self._last = self._llama.model.layers[last]
        width = model.config.hidden_size
        self.critic = torch.nn.Sequential(
            torch.nn.Linear(width, _CRITIC_WIDTH), torch.nn.Tanh(), torch.nn.Linear(_CRITIC_WIDTH, 1)
        )
        named = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self._learned = named | {f"critic.{n}": p for n, p in self.critic.named_parameters()}
        self._optimiser = torch.optim.Adam(self._learned.values(), lr=_RATE)
        self._rng = np.random.default_rng(seed)
        self._trunk = lru_cache(maxsize=4096)(self._frozen)
        self._batch: Sequence[Experience] = ()
        self.usage: list[Usage] = []

    def score(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[np.ndarray, float]:
        """See `Selector.score`."""
        with _torch().no_grad():
            scores, value = self._scores(context, candidates)
        return softmax(scores.double().numpy()), float(value)

    def learn(self, batch: Sequence[Experience]) -> float:
        """See `Selector.learn`."""
        return improve(self, batch, _EPOCHS, self._rng)

    def save(self, path: Path) -> None:
        """LoRA, critic and the optimiser's state; not the frozen model."""
        state = Learnt.of(self._steps(), self._rng)
        arrays = {name: tensor.detach().numpy() for name, tensor in self._tensors().items()}
        write_weights(path, self.name, state, arrays)

    def load(self, path: Path) -> None:
        """See `Selector.load`; the frozen model must be the same one."""
        torch, tensors = _torch(), self._tensors()
        header, arrays = read_weights(path, self.name, {n: tuple(t.shape) for n, t in tensors.items()})
        with torch.no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(torch.from_numpy(arrays[name]))
        for parameter in self._learned.values():
            self._optimiser.state[parameter]["step"].fill_(float(header.state.steps))
        header.state.restore(self._rng)

    def prepare(self, batch: Sequence[Experience]) -> None:
        """See `Differentiable.prepare`."""
        self._batch = batch

    def forward(self, samples: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """See `Differentiable.forward`; the same choice in several samples is computed once."""
        found = cache(self._scores)
        self._out = [found(self._batch[i].context, self._batch[i].candidates) for i in samples]
        scores, values = zip(*self._out, strict=True)
        return [s.detach().double().numpy() for s in scores], np.array([float(v.detach()) for v in values])

    def backward(self, samples: Sequence[int], scores: Sequence[np.ndarray], values: np.ndarray) -> None:
        """See `Differentiable.backward`; the optimiser is Adam."""
        torch = _torch()
        loss = sum(
            (found * torch.from_numpy(by_score).float()).sum() + value * float(by_value)
            for (found, value), by_score, by_value in zip(self._out, scores, values, strict=True)
        )
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.step()

    def _scores(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[Any, Any]:
        """Log-probability per word of each plan, shape (candidates,), and the value."""
        torch, asked = _torch(), question(context, candidates)
        scores, value = [], None
        for candidate in candidates:
            text = words_of(candidate)
            tokens, start, hidden = self._trunk(asked, " " + text)
            out = self._last_block(hidden)
            if value is None:
                value = self.critic(out[0, start - 1])[0]
            logits = self._llama.lm_head(self._llama.model.norm(out))[0, start - 1 : -1]
            logs = torch.log_softmax(logits.float(), dim=-1)
            self.usage.append(Usage(input_tokens=start, output_tokens=tokens.shape[1] - start))
            of_plan = logs.gather(1, tokens[0, start:, None]).sum()
            scores.append(of_plan / len(text.split()))
        return torch.stack(scores), value

    def _frozen(self, asked: str, answer: str) -> tuple[Any, int, Any]:
        """Tokens, where the answer begins, and the input of the last block, shape (1, tokens, width)."""
        torch = _torch()
        head = self._tokenizer.encode(asked)[-_MOST_TOKENS:]
        tail = self._tokenizer.encode(answer, add_special_tokens=False)
        tokens = torch.tensor([head + tail])
        with torch.no_grad():
            states = self._llama.model(tokens, output_hidden_states=True).hidden_states
        return tokens, len(head), states[-2]

    def _last_block(self, hidden: Any) -> Any:
        positions = _torch().arange(hidden.shape[1])[None]
        embedded = self._llama.model.rotary_emb(hidden, positions)
        out = self._last(hidden, position_ids=positions, position_embeddings=embedded)
        return out[0] if isinstance(out, tuple) else out

    def _tensors(self) -> dict[str, Any]:
        """All that is learned, by name, with Adam's two moments."""
        torch = _torch()
        found: dict[str, Any] = {}
        for name, parameter in self._learned.items():
            state = self._optimiser.state[parameter]
            if not state:
                state["step"] = torch.tensor(0.0)
                state["exp_avg"], state["exp_avg_sq"] = (torch.zeros_like(parameter) for _ in range(2))
            moments = {f"{name}.first": state["exp_avg"], f"{name}.second": state["exp_avg_sq"]}
            found |= {name: parameter, **moments}
        return found

    def _steps(self) -> int:
        return int(next(iter(self._optimiser.state.values()), {"step": 0})["step"])


def _torch() -> Any:
    if not available():
        raise InputError("the selector 'language' needs optional packages", "--selector", INSTALL)
    import torch

    return torch


def _load(model: str) -> tuple[Any, Any]:
    """A model from a folder or a GGUF file; nothing is downloaded. Raises InputError."""
    if not Path(model).exists() or not model:
        raise InputError(
            f"no model '{model}'", MODEL_VARIABLE, "set it to the folder or the GGUF file of a causal model"
        )
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = Path(model)
    folder, more = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
    return (
        AutoModelForCausalLM.from_pretrained(folder, **more, dtype="float32"),
        AutoTokenizer.from_pretrained(folder, **more),
    )

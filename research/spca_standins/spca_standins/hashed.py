"""The default selector: hashed words, a linear and a small hidden layer, numpy only.

Words and pairs of words are hashed into a fixed number of signed features (K. Weinberger et al., Feature
Hashing for Large Scale Multitask Learning, 2009).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.sparse import csr_matrix

from spca_copic.ppo import improve, softmax
from spca_copic.selectors.weights import Learnt, read_weights, write_weights
from spca_programs.plan_world import Candidate, ChoiceContext, Experience

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # Adam, as its authors propose


Sparse = tuple[np.ndarray, np.ndarray]
"""Indices (int) and values (float32) of the features that are not zero; an index may occur twice."""

_WORD = re.compile(r"[a-z0-9_]+", re.IGNORECASE)
_FEATURES, _HIDDEN = 1 << 13, 32
_EPOCHS = 10


class HashedSelector:
    """See `spca_copic.ports.Selector`. Untrained, it finds all candidates equally good."""

    name = "hashed"

    def __init__(self, seed: int = 0, rate: float = 0.003) -> None:
        self._rate, self._rng = rate, np.random.default_rng(seed)
        weights: dict[str, np.ndarray] = {}
        for net in ("policy", "value"):
            weights[f"{net}.linear"] = np.zeros(_FEATURES, np.float32)
            weights[f"{net}.inner"] = self._rng.normal(0, 1, (_FEATURES, _HIDDEN)).astype(np.float32)
            weights[f"{net}.offset"] = np.zeros(_HIDDEN, np.float32)
            weights[f"{net}.outer"] = np.zeros(_HIDDEN, np.float32)
            weights[f"{net}.bias"] = np.zeros(1, np.float32)
        moments = {f"{n}.{m}": np.zeros_like(w) for m in ("first", "second") for n, w in weights.items()}
        self._arrays = weights | moments
        self._steps = 0
        self._batch: list[tuple[list[Sparse], Sparse]] = []

    def score(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[np.ndarray, float]:
        """See `Selector.score`."""
        inputs = self._matrix([candidate_features(context, c) for c in candidates])
        scores = self._net("policy", inputs)[0] + _worth(candidates)
        values, _ = self._net("value", self._matrix([context_features(context)]))
        return softmax(scores.astype(float)), float(values[0])

    def learn(self, batch: Sequence[Experience]) -> float:
        """See `Selector.learn`."""
        return improve(self, batch, _EPOCHS, self._rng)

    def save(self, path: Path) -> None:
        """Weights, the optimiser's state and the generator's."""
        write_weights(path, self.name, Learnt.of(self._steps, self._rng), self._arrays)

    def load(self, path: Path) -> None:
        """Take over a file's weights and learning state."""
        shapes = {name: a.shape for name, a in self._arrays.items()}
        header, self._arrays = read_weights(path, self.name, shapes)
        self._steps = header.state.steps
        header.state.restore(self._rng)

    def prepare(self, batch: Sequence[Experience]) -> None:
        """Hash a batch once for all epochs."""
        self._priors = [_worth(s.candidates) for s in batch]
        self._batch = [
            ([candidate_features(s.context, c) for c in s.candidates], context_features(s.context))
            for s in batch
        ]

    def forward(self, samples: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """See `Differentiable.forward`."""
        self._inputs = self._matrix([f for i in samples for f in self._batch[i][0]])
        self._contexts = self._matrix([self._batch[i][1] for i in samples])
        scores, self._hidden = self._net("policy", self._inputs)
        scores = scores + np.concatenate([self._priors[i] for i in samples])
        values, self._value_hidden = self._net("value", self._contexts)
        ends = np.cumsum([len(self._batch[i][0]) for i in samples])[:-1]
        return np.split(scores.astype(float), ends), values.astype(float)

    def backward(self, samples: Sequence[int], scores: Sequence[np.ndarray], values: np.ndarray) -> None:
        """See `Differentiable.backward`; the optimiser is Adam."""
        self._steps += 1
        by_score = np.concatenate(list(scores)).astype(np.float32)
        self._descend("policy", self._inputs, self._hidden, by_score)
        if values.any():
            self._descend("value", self._contexts, self._value_hidden, values.astype(np.float32))

    @staticmethod
    def _matrix(rows: Sequence[Sparse]) -> csr_matrix:
        starts = np.cumsum([0, *(len(indices) for indices, _ in rows)])
        indices = np.concatenate([indices for indices, _ in rows])
        values = np.concatenate([values for _, values in rows])
        return csr_matrix((values, indices, starts), shape=(len(rows), _FEATURES))

    def _net(self, net: str, inputs: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
        w = self._arrays
        hidden = np.maximum(inputs @ w[f"{net}.inner"] + w[f"{net}.offset"], 0)
        out = inputs @ w[f"{net}.linear"] + hidden @ w[f"{net}.outer"] + w[f"{net}.bias"]
        return np.asarray(out), np.asarray(hidden)

    def _descend(self, net: str, inputs: csr_matrix, hidden: np.ndarray, gradient: np.ndarray) -> None:
        by_hidden = np.outer(gradient, self._arrays[f"{net}.outer"]) * (hidden > 0)
        transposed = inputs.T.tocsr()
        for name, by_weight in {
            "linear": transposed @ gradient,
            "inner": transposed @ by_hidden,
            "offset": by_hidden.sum(0),
            "outer": hidden.T @ gradient,
            "bias": gradient.sum(keepdims=True),
        }.items():
            self._adam(f"{net}.{name}", np.array(by_weight, np.float32))

    def _adam(self, name: str, gradient: np.ndarray) -> None:
        first, second = self._arrays[f"{name}.first"], self._arrays[f"{name}.second"]
        first *= _BETA_1
        first += (1 - _BETA_1) * gradient
        second *= _BETA_2
        gradient *= gradient  # in place, as most weights are in large matrices
        gradient *= 1 - _BETA_2
        second += gradient
        corrected = self._rate * (1 - _BETA_2**self._steps) ** 0.5 / (1 - _BETA_1**self._steps)
        change = np.sqrt(second, out=gradient)
        change += _EPSILON
        np.divide(first, change, out=change)
        change *= corrected
        self._arrays[name] -= change


def _worth(candidates: Sequence[Candidate]) -> np.ndarray:
    """What each candidate's program is worth alone: what is learned adds to it."""
    return np.array([c.worth for c in candidates], np.float32)


@lru_cache(maxsize=1 << 18)
def _hashed(word: str) -> tuple[int, float]:
    code = crc32(word.encode())
    return code % _FEATURES, 1.0 if code >> 31 else -1.0


@lru_cache(maxsize=1 << 14)
def candidate_features(context: ChoiceContext, candidate: Candidate) -> Sparse:
    """Features of a candidate in its context, in five groups of norm 1.

    Numbers of things are left out (`cabinet_3` is a `cabinet`): in another case they are other things.
    """
    programs, failure = candidate.programs, context.last_failure
    plan = [without_numbers(action) for action in candidate.plan]
    names = [action.split(" ", 1)[0] for action in plan]
    facts, words = _without_numbers(context.facts), _task_words(context.instruction)
    # Whose plan it is has a group of its own: following one program throughout is the first thing to learn.
    whose = [f"by={program}" for program in programs]
    itself = ["bias", f"length={len(plan)}"]
    itself.append(f"repeated={min(sum(action in context.tried for action in candidate.plan), 3)}")
    itself += [f"again={candidate.plan == context.last_plan}", f"agree={len(programs)}"]
    if failure:
        itself.append(f"again={candidate.plan[:1] == context.last_plan[:1]} after {failure}")
        itself.append(f"{names[0]} after {failure}")
    itself += [f"by={program} after {failure} at {context.decision.bit_length()}" for program in programs]
    itself.append(f"first={plan[0]}")
    for action, name in zip(plan, names, strict=True):
        itself += [f"action={action}", f"name={name}"]
    itself += [f"{one} then {other}" for one, other in pairwise(plan)]
    # The first action with every fact; each action with the facts that speak of one of its arguments.
    when = [f"{first} when {fact}" for fact in facts for first in (plan[0], names[0])]
    said = {fact: set(_WORD.findall(fact)) for fact in facts}
    for action in plan:
        arguments = set(action.split()[1:])
        when += [f"{action} since {fact}" for fact in facts if arguments & said[fact]]
    task = []
    for place, (action, name) in enumerate(zip(plan, names, strict=True)):
        task += [f"{what} for {word}" for word in words for what in (action, f"{place} {name}")]
    task += [f"by={program} for {word}" for program in programs for word in words]
    # What the task names and facts mention: few words, which weigh more here than among all.
    mentioned = {word.lower() for fact in facts for word in said[fact]}
    named = [f"{a} for the {word}" for a in dict.fromkeys(plan) for word in words if word in mentioned]
    return hashed_groups((whose, itself, when, task, named))


def context_features(context: ChoiceContext) -> Sparse:
    """Features of a context alone, for the critic."""
    state = ("bias", f"failure={context.last_failure}", f"decision={min(context.decision, 30)}",
             f"stage={context.decision.bit_length()}")  # fmt: skip
    return hashed_groups((state, _without_numbers(context.facts), _task_words(context.instruction)))


_NUMBER = re.compile(r"(?<=[a-z])_\d+\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 16)
def without_numbers(text: str) -> str:
    """A text that speaks of kinds instead of single things.

    >>> without_numbers("put apple_1 cabinet_12")
    'put apple cabinet'
    """
    return _NUMBER.sub("", text)


@lru_cache(maxsize=64)
def _without_numbers(facts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(without_numbers(fact) for fact in facts))


@lru_cache(maxsize=4096)
def _task_words(instruction: str) -> tuple[str, ...]:
    """The words of a task and its pairs of neighbours, each once."""
    words = [word.lower() for word in _WORD.findall(instruction)]
    return tuple(dict.fromkeys([*words, *[f"{a}_{b}" for a, b in pairwise(words)]]))[:80]


def hashed_groups(groups: Sequence[Iterable[str]]) -> Sparse:
    """The words of each group as signed features; each group has norm 1."""
    found = [[_hashed(word) for word in group] for group in groups]
    indices = [index for group in found for index, _ in group]
    values = [sign / len(group) ** 0.5 for group in found for _, sign in group]
    return np.array(indices, dtype=np.int32), np.array(values, dtype=np.float32)

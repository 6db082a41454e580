"""The default selector: hashed words, a linear and a small hidden layer, numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import Field
from scipy.sparse import csr_matrix

from spca_copic.ppo import PpoOptions, improve, softmax
from spca_copic.selectors.features import Sparse, candidate_features, context_features
from spca_copic.selectors.weights import Learnt, read_weights, write_weights
from spca_core.model import Record
from spca_programs.plan_world import Candidate, ChoiceContext
from spca_programs.ports.selector import Experience, Learning

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # Adam, as its authors propose


class HashedOptions(Record):
    """Sizes and rates. There are 2**bits features."""

    bits: int = Field(13, ge=4, le=20)
    hidden: int = Field(32, ge=1)
    rate: float = Field(0.003, gt=0)
    prior: float = Field(1.0, ge=0)
    """Weight of what a candidate's program is worth alone; what is learned adds to it."""
    seed: int = Field(0, ge=0)
    ppo: PpoOptions = PpoOptions()


class HashedSelector:
    """See `spca_programs.ports.selector.Selector`. Untrained, it finds all candidates equally good."""

    name = "hashed"

    def __init__(self, options: HashedOptions | None = None) -> None:
        self.options = options or HashedOptions()
        self._rng = np.random.default_rng(self.options.seed)
        size, hidden = 1 << self.options.bits, self.options.hidden
        self._weights: dict[str, np.ndarray] = {}
        for net in ("policy", "value"):
            self._weights[f"{net}.linear"] = np.zeros(size, np.float32)
            self._weights[f"{net}.inner"] = self._rng.normal(0, 1, (size, hidden)).astype(np.float32)
            self._weights[f"{net}.offset"] = np.zeros(hidden, np.float32)
            self._weights[f"{net}.outer"] = np.zeros(hidden, np.float32)
            self._weights[f"{net}.bias"] = np.zeros(1, np.float32)
        self._first = {name: np.zeros_like(w) for name, w in self._weights.items()}
        self._second = {name: np.zeros_like(w) for name, w in self._weights.items()}
        self._steps = 0
        self._batch: list[tuple[list[Sparse], Sparse]] = []

    # --- Selector -------------------------------------------------------------------------------------------

    def score(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[np.ndarray, float]:
        """See `Selector.score`."""
        inputs = self._matrix([candidate_features(context, c, self.options.bits) for c in candidates])
        scores = self._net("policy", inputs)[0] + self._prior(candidates)
        values, _ = self._net("value", self._matrix([context_features(context, self.options.bits)]))
        return softmax(scores.astype(float)), float(values[0])

    def learn(self, batch: Sequence[Experience]) -> Learning:
        """See `Selector.learn`."""
        return improve(self, batch, self.options.ppo, self._rng)

    def save(self, path: Path) -> None:
        """Weights, the optimiser's state and the generator's."""
        state = Learnt.of(self._steps, self._rng)
        write_weights(path, self.name, self.options.model_dump(mode="json"), state, self._arrays())

    def load(self, path: Path) -> None:
        """Take over a file's weights and learning state; the options stay this selector's own."""
        header, arrays = read_weights(path, self.name, {n: a.shape for n, a in self._arrays().items()})
        for name in self._weights:
            self._weights[name] = arrays[name]
            self._first[name], self._second[name] = arrays[f"{name}.first"], arrays[f"{name}.second"]
        self._steps = header.state.steps
        header.state.restore(self._rng)

    # --- Differentiable -------------------------------------------------------------------------------------

    def prepare(self, batch: Sequence[Experience]) -> None:
        """Hash a batch once for all epochs."""
        self._priors = [self._prior(s.candidates) for s in batch]
        self._batch = [
            (
                [candidate_features(s.context, c, self.options.bits) for c in s.candidates],
                context_features(s.context, self.options.bits),
            )
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

    # --- helpers --------------------------------------------------------------------------------------------

    def _prior(self, candidates: Sequence[Candidate]) -> np.ndarray:
        return self.options.prior * np.array([c.worth for c in candidates], np.float32)

    def _matrix(self, rows: Sequence[Sparse]) -> csr_matrix:
        starts = np.cumsum([0, *(len(indices) for indices, _ in rows)])
        indices = np.concatenate([indices for indices, _ in rows])
        values = np.concatenate([values for _, values in rows])
        return csr_matrix((values, indices, starts), shape=(len(rows), 1 << self.options.bits))

    def _net(self, net: str, inputs: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
        w = self._weights
        hidden = np.maximum(inputs @ w[f"{net}.inner"] + w[f"{net}.offset"], 0)
        out = inputs @ w[f"{net}.linear"] + hidden @ w[f"{net}.outer"] + w[f"{net}.bias"]
        return np.asarray(out), np.asarray(hidden)

    def _descend(self, net: str, inputs: csr_matrix, hidden: np.ndarray, gradient: np.ndarray) -> None:
        by_hidden = np.outer(gradient, self._weights[f"{net}.outer"]) * (hidden > 0)
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
        first, second = self._first[name], self._second[name]
        first *= _BETA_1
        first += (1 - _BETA_1) * gradient
        second *= _BETA_2
        gradient *= gradient  # in place, as most weights are in large matrices
        gradient *= 1 - _BETA_2
        second += gradient
        corrected = self.options.rate * (1 - _BETA_2**self._steps) ** 0.5 / (1 - _BETA_1**self._steps)
        change = np.sqrt(second, out=gradient)
        change += _EPSILON
        np.divide(first, change, out=change)
        change *= corrected
        self._weights[name] -= change

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = dict(self._weights)
        arrays.update({f"{name}.first": a for name, a in self._first.items()})
        arrays.update({f"{name}.second": a for name, a in self._second.items()})
        return arrays

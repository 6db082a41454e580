"""Policy gradients for any selector that can differentiate its scores.

Where only the reward of what was chosen is known: proximal policy optimisation (J. Schulman et al., 2017)
with generalised advantage estimation (2016). Where every candidate was tried out, the expected outcome is
known, and its exact gradient needs neither a critic nor ratios; so choices made long ago count as well as new
ones. The choice is among a varying number of candidates: the policy is a softmax over the scores of those
that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from spca_programs.plan_world import Experience

_BATCH = 32
# Of choices that were not tried out. Rewards are not discounted: a program that asks seldom would look better
# than one that succeeds.
_CLIP, _GAE_LAMBDA, _VALUE_WEIGHT, _ENTROPY_WEIGHT = 0.2, 0.9, 0.5, 0.01
_TEMPERATURE = 0.1
"""Weight of the entropy where outcomes are known, in deviations of them.

The policy then tends to the softmax of outcomes over it. The lower, the sooner it is certain, and what is
certain hardly learns any more.
"""


class Differentiable(Protocol):
    """Interface that the algorithm needs of a selector. Samples are numbered as in `prepare`'s batch."""

    def prepare(self, batch: Sequence[Experience]) -> None:
        """Make ready for a batch."""

    def forward(self, samples: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Each sample's scores, shape (candidates,), before the softmax; and values, shape (samples,)."""

    def backward(self, samples: Sequence[int], scores: Sequence[np.ndarray], values: np.ndarray) -> None:
        """One optimiser step down the gradients of the loss by the scores and values from `forward`."""


def advantages(batch: Sequence[Experience]) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantages and the returns that the critic shall learn, shape (len(batch),) each.

    A batch that ends within an episode is completed by the critic's value of its last sample.
    """
    result = np.zeros(len(batch))
    following, value_after = 0.0, batch[-1].value if batch and not batch[-1].last else 0.0
    for index in range(len(batch) - 1, -1, -1):
        sample = batch[index]
        if sample.last:
            following, value_after = 0.0, 0.0
        delta = sample.reward + value_after - sample.value
        following = delta + _GAE_LAMBDA * following
        result[index] = following
        value_after = sample.value
    return result, result + np.array([sample.value for sample in batch])


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities of scores, shape (n,)."""
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())


class _Chosen(NamedTuple):
    """A choice of which only what was chosen is known."""

    chosen: int
    before: float
    """Its probability before the update."""
    advantage: float


_Taught = _Chosen | np.ndarray
"""What a choice teaches the policy; an array holds the outcomes of all candidates."""


def improve(
    policy: Differentiable, batch: Sequence[Experience], epochs: int, rng: np.random.Generator
) -> float:
    """Some epochs over a batch. Where there are outcomes, choices without any are left out: they are noise.

    Returns the policy's mean entropy in the last one. Advantages and outcomes are scaled to a deviation of 1,
    outcomes over the candidates of a choice.
    """
    tried = [sample for sample in batch if sample.outcomes]
    batch = tried or batch
    if not batch:
        return 0.0
    policy.prepare(batch)
    target: np.ndarray | None = None
    if tried:
        spread = np.sqrt(np.mean([np.var(sample.outcomes) for sample in tried])) + 1e-8
        taught: list[_Taught] = [np.array(sample.outcomes) / spread for sample in tried]
    else:
        advantage, target = advantages(batch)
        choices = [len(sample.candidates) > 1 for sample in batch]
        if any(choices):  # a sole candidate teaches the critic, not the policy
            advantage = (advantage - advantage[choices].mean()) / (advantage[choices].std() + 1e-8)
        taught = [_Chosen(s.chosen, s.probability, a) for s, a in zip(batch, advantage.tolist(), strict=True)]
    entropy = 0.0
    for _ in range(epochs):
        order = rng.permutation(len(batch))
        parts = [order[start : start + _BATCH].tolist() for start in range(0, len(order), _BATCH)]
        entropy = sum(_step(policy, samples, taught, target) for samples in parts)
    return entropy / len(batch)


def _step(
    policy: Differentiable,
    samples: Sequence[int],
    taught: Sequence[_Taught],
    target: np.ndarray | None,
) -> float:
    """One mini-batch; returns the sum of the entropies. Without a `target` the critic does not learn."""
    scores, values = policy.forward(samples)
    found = [_policy_gradient(score, taught[index]) for index, score in zip(samples, scores, strict=True)]
    error = np.zeros(len(samples)) if target is None else values - target[samples]
    gradients = [gradient / len(samples) for gradient, _ in found]
    policy.backward(samples, gradients, 2 * _VALUE_WEIGHT * error / len(samples))
    return sum(entropy for _, entropy in found)


def _policy_gradient(score: np.ndarray, taught: _Taught) -> tuple[np.ndarray, float]:
    """Gradient of a sample's loss by its scores, and the entropy."""
    probability = softmax(score)
    logs = np.log(probability + 1e-12)
    entropy = float(-(probability * logs).sum())
    if len(score) < 2:
        return np.zeros_like(score), entropy
    by_entropy = probability * (logs + entropy)
    if isinstance(taught, np.ndarray):
        return _TEMPERATURE * by_entropy - probability * (taught - float(probability @ taught)), entropy
    ratio = probability[taught.chosen] / taught.before
    clipped = np.clip(ratio, 1 - _CLIP, 1 + _CLIP) * taught.advantage < ratio * taught.advantage
    pull = 0.0 if clipped else taught.advantage * ratio
    by_policy = pull * (probability - np.eye(len(score))[taught.chosen])
    return by_policy + _ENTROPY_WEIGHT * by_entropy, entropy

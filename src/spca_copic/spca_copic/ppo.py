"""Proximal policy optimisation with a clipped objective, for any selector that can differentiate its scores.

J. Schulman et al., Proximal Policy Optimization Algorithms, 2017, and generalised advantage estimation
(2016). The choice is among a varying number of candidates, so the policy is a softmax over the scores of
those that there are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from pydantic import Field

from spca_core.model import Record
from spca_core.ports.selector import Experience, Learning


class PpoOptions(Record):
    """Constants of the algorithm."""

    clip: float = Field(0.2, gt=0)
    gae_lambda: float = Field(0.9, ge=0, le=1)
    discount: float = Field(1.0, ge=0, le=1)
    """Per decision. Below 1 a program that asks seldom would look better than one that succeeds."""
    value_weight: float = Field(0.5, ge=0)
    entropy_weight: float = Field(0.01, ge=0)
    epochs: int = Field(10, ge=1)
    batch: int = Field(32, ge=1)


class Differentiable(Protocol):
    """What the algorithm needs of a selector. Samples are numbered as in the batch given to `prepare`."""

    def prepare(self, batch: Sequence[Experience]) -> None:
        """Make ready for a batch."""
        ...

    def forward(self, samples: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Each sample's scores, shape (candidates,), before the softmax; and values, shape (samples,)."""
        ...

    def backward(self, samples: Sequence[int], scores: Sequence[np.ndarray], values: np.ndarray) -> None:
        """One optimiser step down the gradients of the loss by the scores and values from `forward`."""
        ...


def advantages(
    batch: Sequence[Experience], discount: float, gae_lambda: float
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantages and the returns that the critic shall learn, shape (len(batch),) each.

    A batch that ends within an episode is completed by the critic's value of its last sample.
    """
    result = np.zeros(len(batch))
    following, value_after = 0.0, batch[-1].value if batch and not batch[-1].last else 0.0
    for index in range(len(batch) - 1, -1, -1):
        sample = batch[index]
        if sample.last:
            following, value_after = 0.0, 0.0
        delta = sample.reward + discount * value_after - sample.value
        following = delta + discount * gae_lambda * following
        result[index] = following
        value_after = sample.value
    return result, result + np.array([sample.value for sample in batch])


def softmax(scores: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probabilities of scores, shape (n,)."""
    raised = np.exp((scores - scores.max()) / temperature)
    return np.asarray(raised / raised.sum())


class _Weighed(NamedTuple):
    """The candidates of a choice, shape (candidates,) each: what the policy gradient is a weighted sum of."""

    weight: np.ndarray
    """1 for the chosen candidate; where all were tried, their probabilities before; 0: nothing to learn."""
    before: np.ndarray
    """Probabilities before the update."""
    advantage: np.ndarray


def _weighed(batch: Sequence[Experience], advantage: np.ndarray) -> list[_Weighed]:
    """What each choice teaches the policy: what was chosen or, in a batch with outcomes, what was tried.

    An outcome tells what a candidate leads to, an advantage also what was chosen later, which is noise. Both
    are scaled to a deviation of 1, outcomes over the candidates of a choice.
    """
    tried = [np.var(sample.outcomes) for sample in batch if sample.outcomes]
    spread = np.sqrt(np.mean(tried)) + 1e-8 if tried else 0.0
    choices = [len(sample.candidates) > 1 for sample in batch]
    if any(choices):  # a sole candidate teaches the critic, not the policy
        advantage = (advantage - advantage[choices].mean()) / (advantage[choices].std() + 1e-8)
    found = []
    for sample, value in zip(batch, advantage, strict=True):
        count = len(sample.candidates)
        if sample.outcomes:
            before = np.maximum(sample.probabilities, 1e-6)
            before, outcomes = before / before.sum(), np.array(sample.outcomes)
            found.append(_Weighed(before, before, (outcomes - before @ outcomes) / spread))
        else:
            chosen = np.zeros(count) if tried else np.eye(count)[sample.chosen]
            found.append(_Weighed(chosen, np.full(count, sample.probability), np.full(count, value)))
    return found


def improve(
    policy: Differentiable, batch: Sequence[Experience], options: PpoOptions, rng: np.random.Generator
) -> Learning:
    """Some epochs of clipped policy gradient over a batch."""
    began = time.monotonic()
    if not batch:
        return Learning(policy_loss=0.0, value_loss=0.0, entropy=0.0, clipped=0.0, seconds=0.0)
    policy.prepare(batch)
    advantage, target = advantages(batch, options.discount, options.gae_lambda)
    weighed = _weighed(batch, advantage)
    told = np.zeros(4)
    for _ in range(options.epochs):
        order = rng.permutation(len(batch))
        told = np.zeros(4)
        for start in range(0, len(order), options.batch):
            samples = order[start : start + options.batch].tolist()
            told += _step(policy, batch, samples, weighed, target, options)
    told /= len(batch)
    return Learning(
        policy_loss=float(told[0]),
        value_loss=float(told[1]),
        entropy=float(told[2]),
        clipped=float(told[3]),
        seconds=time.monotonic() - began,
    )


def _step(
    policy: Differentiable,
    batch: Sequence[Experience],
    samples: Sequence[int],
    weighed: Sequence[_Weighed],
    target: np.ndarray,
    options: PpoOptions,
) -> np.ndarray:
    """One mini-batch; sums of policy loss, value loss, entropy, clipped ratios."""
    scores, values = policy.forward(samples)
    gradients = []
    told = np.zeros(4)
    for index, score in zip(samples, scores, strict=True):
        gradient, loss, entropy, clipped = _policy_gradient(score, weighed[index], options)
        gradients.append(gradient / len(samples))
        told += (loss, 0.0, entropy, clipped)
    error = values - target[samples]
    told[1] = float((error**2).sum())
    policy.backward(samples, gradients, 2 * options.value_weight * error / len(samples))
    return told


def _policy_gradient(
    score: np.ndarray, weighed: _Weighed, options: PpoOptions
) -> tuple[np.ndarray, float, float, float]:
    """Gradient of a sample's loss by its scores, the loss, the entropy, the share of clipped ratios."""
    probability = softmax(score)
    logs = np.log(probability + 1e-12)
    entropy = float(-(probability * logs).sum())
    if len(score) < 2:
        return np.zeros_like(score), 0.0, entropy, 0.0
    weight, before, advantage = weighed
    ratio = probability / before
    bounded = np.clip(ratio, 1 - options.clip, 1 + options.clip)
    clipped = bounded * advantage < ratio * advantage
    pull = np.where(clipped, 0.0, weight * advantage * ratio)
    by_policy = -(pull - probability * pull.sum())
    by_entropy = options.entropy_weight * weight.sum() * probability * (logs + entropy)
    loss = -float((weight * np.minimum(ratio * advantage, bounded * advantage)).sum())
    return by_policy + by_entropy, loss, entropy, float((weight * clipped).sum())

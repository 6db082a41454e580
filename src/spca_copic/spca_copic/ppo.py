"""Proximal policy optimisation with a clipped objective, for any selector that can differentiate its scores.

J. Schulman et al., Proximal Policy Optimization Algorithms, 2017, and generalised advantage estimation
(2016). The choice is among a varying number of candidates, so the policy is a softmax over the scores of
those that there are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

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


def improve(
    policy: Differentiable, batch: Sequence[Experience], options: PpoOptions, rng: np.random.Generator
) -> Learning:
    """Some epochs of clipped policy gradient over a batch."""
    began = time.monotonic()
    if not batch:
        return Learning(policy_loss=0.0, value_loss=0.0, entropy=0.0, clipped=0.0, seconds=0.0)
    policy.prepare(batch)
    advantage, target = advantages(batch, options.discount, options.gae_lambda)
    choices = np.array([len(sample.candidates) > 1 for sample in batch])
    if choices.any():  # a sole candidate teaches the critic, not the policy
        spread = advantage[choices].std()
        advantage = (advantage - advantage[choices].mean()) / (spread + 1e-8)
    told = np.zeros(4)
    for _ in range(options.epochs):
        order = rng.permutation(len(batch))
        told = np.zeros(4)
        for start in range(0, len(order), options.batch):
            samples = order[start : start + options.batch].tolist()
            told += _step(policy, batch, samples, advantage, target, options)
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
    advantage: np.ndarray,
    target: np.ndarray,
    options: PpoOptions,
) -> np.ndarray:
    """One mini-batch; sums of policy loss, value loss, entropy, clipped ratios."""
    scores, values = policy.forward(samples)
    gradients = []
    told = np.zeros(4)
    for index, score in zip(samples, scores, strict=True):
        sample = batch[index]
        gradient, loss, entropy, clipped = _policy_gradient(score, sample, advantage[index], options)
        gradients.append(gradient / len(samples))
        told += (loss, 0.0, entropy, float(clipped))
    error = values - target[samples]
    told[1] = float((error**2).sum())
    policy.backward(samples, gradients, 2 * options.value_weight * error / len(samples))
    return told


def _policy_gradient(
    score: np.ndarray, sample: Experience, advantage: float, options: PpoOptions
) -> tuple[np.ndarray, float, float, bool]:
    """Gradient of a sample's loss by its scores, the loss, the entropy, whether the ratio was clipped."""
    probability = softmax(score)
    logs = np.log(probability + 1e-12)
    entropy = float(-(probability * logs).sum())
    if len(score) < 2:
        return np.zeros_like(score), 0.0, entropy, False
    ratio = float(probability[sample.chosen] / sample.probability)
    bounded = float(np.clip(ratio, 1 - options.clip, 1 + options.clip))
    one_hot = np.zeros(len(score))
    one_hot[sample.chosen] = 1.0
    clipped = bounded * advantage < ratio * advantage
    by_policy = np.zeros(len(score)) if clipped else -advantage * ratio * (one_hot - probability)
    by_entropy = options.entropy_weight * probability * (logs + entropy)
    return by_policy + by_entropy, -min(ratio * advantage, bounded * advantage), entropy, clipped

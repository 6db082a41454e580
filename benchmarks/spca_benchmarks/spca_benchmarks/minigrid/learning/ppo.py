"""Proximal policy optimisation (Schulman et al. 2017) over many worlds at once, on the CPU; needs torch.

The network is BabyAI's for MiniGrid (convolutions for what is seen, a GRU for the mission, an LSTM for
memory), and convolutions alone where `Settings.recurrence` is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.model import Record

INSTALL = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
_WORDS, _MEMORY, _FILTERS = 256, 128, (16, 32, 64)
_LARGEST_GRADIENT = 0.5


class Observed(NamedTuple):
    """What an agent sees: `planes` by channel, row and column."""

    planes: NDArray[np.uint8]
    words: NDArray[np.uint8]
    """The mission's, as numbers, 0 for none; as many in every world."""


class Learnable(Protocol):
    """A world of episodes, in which only success sums up above 0."""

    actions: Sequence[str]

    def begin(self, seed: int, /) -> Observed:
        """A new episode."""

    def act(self, action: int, /) -> tuple[Observed, float, bool, bool]:
        """What is seen then, the reward, whether the episode has ended, and whether it is solved."""


class Settings(Record):
    """What the learner does; the defaults are BabyAI's (Chevalier-Boisvert et al. 2019).

    But for the rate, which is 1e-4 there, with a larger network.
    """

    worlds: int = 64
    steps: int = 40
    """In each world, between two updates."""
    recurrence: int = 20
    """Steps over which a gradient goes back in memory."""
    batch: int = 1280
    epochs: int = 4
    rate: float = 7e-4
    discount: float = 0.99
    trace: float = 0.99
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    scale: float = 20.0
    """Of rewards."""


def require_torch() -> Any:
    """Return torch. Raises InputError where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise InputError("PPO needs torch", hint=INSTALL) from error
    torch.set_num_threads(1)  # the network is small, and other learners run beside this one
    return torch


class Learner:
    """A policy and what it has learned so far in `worlds`, one episode of which goes on in each."""

    def __init__(self, worlds: Sequence[Learnable], seed: int, settings: Settings) -> None:
        self._torch = torch = require_torch()
        torch.manual_seed(seed)
        self._worlds, self._settings = worlds, settings
        self._seeds = map(np.random.default_rng([seed, 2]).integers, repeat(10**6), repeat(2**31))
        self._now = [world.begin(int(next(self._seeds))) for world in worlds]
        self._memory = torch.zeros(len(worlds), 2 * _MEMORY)
        self._net = self._network(self._now[0].planes.shape, len(worlds[0].actions))
        self._optimiser = torch.optim.Adam(self._net.parameters(), lr=settings.rate, eps=1e-5)

    def learn(self) -> list[bool]:
        """Act for `steps` in each world, then improve; whether each episode that ended was solved."""
        torch, settings, ended = self._torch, self._settings, []
        shape = (settings.steps, len(self._worlds))
        rewards, alive = np.zeros(shape, np.float32), np.ones(shape, np.float32)
        kept: list[tuple[Any, ...]] = []
        with torch.no_grad():
            for step in range(settings.steps):
                planes, words = self._batch(self._now)
                logits, value, memory = self._forward(planes, words, self._memory)
                chosen = torch.distributions.Categorical(logits=logits)
                actions = chosen.sample()
                kept.append((planes, words, self._memory, actions, chosen.log_prob(actions), value))
                for i, (world, action) in enumerate(zip(self._worlds, actions.tolist(), strict=True)):
                    self._now[i], rewards[step, i], over, solved = world.act(action)
                    if over:
                        ended.append(solved)
                        self._now[i], alive[step, i] = world.begin(int(next(self._seeds))), 0
                self._memory = memory * torch.from_numpy(alive[step])[:, None]
            after = self._forward(*self._batch(self._now), self._memory)[1].numpy()
        data = [torch.stack(column) for column in zip(*kept, strict=True)]
        gains = self._gains(settings.scale * rewards, data[-1].numpy(), after, alive)
        self._improve([*data, torch.from_numpy(gains), torch.from_numpy(alive)])
        return ended

    def solved(self, worlds: Sequence[Learnable], episodes: int) -> float:
        """Share of new episodes, the same ones each time, that the policy solves."""
        torch, solved, begun = self._torch, 0, len(worlds)
        now, memory = [w.begin(i) for i, w in enumerate(worlds)], torch.zeros(len(worlds), 2 * _MEMORY)
        going = list(range(len(worlds)))
        while going:
            with torch.no_grad():
                seen = self._batch([now[i] for i in going])
                logits, _, memory[going] = self._forward(*seen, memory[going])
                chosen = torch.distributions.Categorical(logits=logits).sample()
            for i, action in zip(list(going), chosen.tolist(), strict=True):
                now[i], _, over, won = worlds[i].act(action)
                if over:
                    solved, memory[i] = solved + won, 0
                    if begun < episodes:
                        now[i], begun = worlds[i].begin(begun), begun + 1
                    else:
                        going.remove(i)
        return solved / episodes

    def _network(self, shape: tuple[int, ...], actions: int) -> Any:
        nn, recurrent = self._torch.nn, self._settings.recurrence > 1
        layers, size, channels = [], shape[-1], shape[0]
        for i, filters in enumerate(_FILTERS):
            layers += [nn.Conv2d(channels, filters, 2), nn.ReLU()]
            size, channels = size - 1, filters
            if recurrent and not i:
                layers.append(nn.MaxPool2d(2))
                size //= 2
        width = channels * size * size
        net = {"see": nn.Sequential(*layers)}
        if recurrent:
            net |= {
                "word": nn.Embedding(_WORDS, 32), "mission": nn.GRU(32, _MEMORY, batch_first=True),
                "modulate": nn.Linear(_MEMORY, 2 * channels), "remember": nn.LSTMCell(width, _MEMORY),
            }  # fmt: skip
            width = 2 * _MEMORY
        return nn.ModuleDict({**net, "actor": nn.Linear(width, actions), "critic": nn.Linear(width, 1)})

    def _batch(self, seen: Sequence[Observed]) -> tuple[Any, Any]:
        planes, words = (np.stack(part) for part in zip(*seen, strict=True))
        return self._torch.from_numpy(planes), self._torch.from_numpy(words)

    def _forward(self, planes: Any, words: Any, memory: Any, alive: Any = None) -> tuple[Any, Any, Any]:
        """Logits, values and memory after it; with `alive`, of steps in a row, its first dimension."""
        torch, net = self._torch, self._net
        steps = planes.shape[0] if alive is not None else 1
        seen = net["see"](planes.flatten(0, -4).float())
        if "remember" in net:
            missions, which = torch.unique(words.flatten(0, -2), dim=0, return_inverse=True)
            text = net["mission"](net["word"](missions.long()))[1][0][which]
            by, plus = net["modulate"](text)[..., None, None].chunk(2, 1)
            seen = torch.relu(seen * (1 + by) + plus).flatten(1).unflatten(0, (steps, -1))
            hidden, cell = memory.chunk(2, -1)
            outputs = []
            for step in range(steps):
                hidden, cell = net["remember"](seen[step], (hidden, cell))
                outputs.append(hidden)
                if alive is not None:
                    hidden, cell = (part * alive[step][:, None] for part in (hidden, cell))
            memory = torch.cat((hidden, cell), -1)
            seen = torch.cat((torch.cat(outputs), text), -1)
        else:
            seen = seen.flatten(1)
        return net["actor"](seen), net["critic"](seen)[:, 0], memory

    def _gains(self, rewards: Any, values: Any, after: Any, alive: Any) -> NDArray[np.float32]:
        """Advantages (generalized advantage estimation)."""
        settings, gains, ahead = self._settings, np.zeros_like(rewards), np.zeros_like(after)
        for step in reversed(range(len(rewards))):
            error = rewards[step] + settings.discount * after * alive[step] - values[step]
            ahead = gains[step] = error + settings.discount * settings.trace * alive[step] * ahead
            after = values[step]
        return gains

    def _improve(self, data: Sequence[Any]) -> None:
        torch, settings = self._torch, self._settings
        row = settings.recurrence
        # Rows of so many steps: (step within it, row, …).
        rows = [one.unflatten(0, (-1, row)).transpose(0, 1).flatten(1, 2) for one in data]
        for _ in range(settings.epochs):
            for chosen in torch.randperm(rows[0].shape[1]).split(max(1, settings.batch // row)):
                planes, words, memory, actions, was, value, gain, alive = (one[:, chosen] for one in rows)
                logits, now, _ = self._forward(planes, words, memory[0], alive)
                likely = torch.distributions.Categorical(logits=logits)
                ratio = (likely.log_prob(actions.flatten()) - was.flatten()).exp()
                better = ((gain - gain.mean()) / (gain.std() + 1e-8)).flatten()
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                loss = -torch.min(ratio * better, clipped * better).mean()
                loss = loss + settings.value * (now - (value + gain).flatten()).pow(2).mean()
                loss = loss - settings.entropy * likely.entropy().mean()
                self._optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self._net.parameters(), _LARGEST_GRADIENT)
                self._optimiser.step()

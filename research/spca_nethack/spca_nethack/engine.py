"""NetHack itself, through the optional package `nle`: keys in, screen and numbers out."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from spca_core.errors import InputError

INSTALL = "pip install --no-deps nle==1.3.0"
"""How to get it. NLE names an older gymnasium; only its `nethack` module is used, which works with ours."""
ESCAPE, RETURN, YES = 27, 13, ord("y")
_KEYS = ("glyphs", "blstats", "message", "inv_strs", "inv_letters", "misc")
_MOST_PROMPTS = 20
_STATS = {"hp": 10, "max_hp": 11, "level": 18, "experience": 19, "depth": 12, "turn": 20, "armour_class": 16,
          "gold": 13}  # fmt: skip
_HUNGER = ("satiated", "not hungry", "hungry", "weak", "fainting", "fainted", "starved")


def available() -> bool:
    """Return whether the optional package is installed."""
    return find_spec("nle") is not None


@lru_cache(maxsize=1)
def nethack() -> Any:
    """NLE's module. Raises InputError where it is missing."""
    if not available():
        raise InputError(
            "the world 'nethack' needs the NetHack Learning Environment",
            "nethack",
            f"install it into this environment: {INSTALL}",
        )
    from nle import nethack as module

    return module


class Game:
    """One game of a Valkyrie. The same seed and the same keys give the same game.

    NetHack reseeds itself from the clock and looks at the moon; both are switched off.
    """

    def __init__(self) -> None:
        game = nethack().nethack
        # In a shop, what is picked up has to be paid for.
        options = [option for option in game.NETHACKOPTIONS if option != "autopickup"] + ["!autopickup"]
        self._play = game.Nethack(
            observation_keys=_KEYS,
            ttyrec=None,
            playername="Agent-val-hum-neu-fem",
            options=options,
            fix_moon_phase=True,
        )
        self.over, self.messages = True, [""]

    def start(self, seed: int) -> None:
        """A new game."""
        self._play.set_initial_seeds(seed, seed, False, seed)
        self.over, self.messages = False, []
        self._screen = self._play.reset()
        self._numbers = self._screen[1].copy()
        self._settle()

    def press(self, *keys: int | str) -> list[str]:
        """Press keys; returns the messages. Pages of text are turned, a question is left for the next key."""
        self.messages = []
        for key in keys:
            if self.over:
                break
            self._key(key if isinstance(key, int) else ord(key))
            self._settle()
        return self.messages

    @property
    def glyphs(self) -> np.ndarray:
        """The glyphs of the map, shape (21, 79)."""
        return np.asarray(self._screen[0])

    @property
    def position(self) -> tuple[int, int]:
        """Row and column of the hero."""
        return int(self._screen[1][1]), int(self._screen[1][0])

    @property
    def stats(self) -> dict[str, int | str]:
        """Hit points, level, depth and the like; after the end, the last ones."""
        numbers = self._numbers
        return {name: int(numbers[at]) for name, at in _STATS.items()} | {"hunger": _HUNGER[numbers[21]]}

    @property
    def floor(self) -> tuple[int, int]:
        """Number of the dungeon and of the level in it."""
        return int(self._screen[1][23]), int(self._screen[1][24])

    @property
    def inventory(self) -> dict[str, str]:
        """Letter → thing."""
        things = (bytes(text).split(b"\0")[0].decode("latin1") for text in self._screen[3])
        return {chr(letter): thing for letter, thing in zip(self._screen[4], things, strict=True) if letter}

    @property
    def asks(self) -> bool:
        """True if a question is waiting for a key."""
        return bool(self._screen[5][0] or self._screen[5][1])

    def close(self) -> None:
        """End the game; harmless when called twice."""
        if self._play is not None:
            self._play.close()
            self._play, self.over = None, True

    def _key(self, key: int) -> None:
        self._screen, self.over = self._play.step(key)
        if self._screen[1][18] > 0:  # the last screens of a game show no numbers
            self._numbers = self._screen[1].copy()
        text = bytes(self._screen[2]).split(b"\0")[0].decode("latin1")
        if text := re.sub(r"\s+", " ", text).strip():
            self.messages.append(text)

    def _settle(self) -> None:
        """Turn pages."""
        for _ in range(_MOST_PROMPTS):
            if self.over or not self._screen[5][2]:
                return
            self._key(RETURN)

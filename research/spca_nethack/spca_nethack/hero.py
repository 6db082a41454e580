"""The hero's skills: each presses keys until it is done, fails, or something calls for a new decision."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_nethack.engine import ESCAPE, YES, Game, nethack
from spca_nethack.level import KEYS, Level, Square
from spca_programs.plan_world import FailureKind, Remark

_KICK, _LOOT, _FORCE, _PRAY = 4, 236, 230, 240
_MOST_MOVES = 80
_MOST_BLOWS = 12
_SEARCHES = 12
_NEVER_TOUCHED = "floating eye"
"""Whoever hits it is paralysed; everybody who plays knows."""
SKILLS = {
    "explore": "walk to the nearest place from which something new may be seen, until something turns up",
    "search": "search for hidden doors where there may be some, dead ends first",
    "goto": "walk to the nearest `fountain`, `box`, `stairs_down`, `item` or `sink`",
    "descend": "walk to the stairs down, and take them",
    "fight": "walk up to the nearest monster and hit it",
    "drink": "drink from the fountain that one stands on",
    "open_box": "open the box that one stands on",
    "force_lock": "pry open the lock of the box that one stands on, with the sword",
    "kick_box": "kick the nearest box until its lock breaks",
    "kick_door": "kick a locked door until it is open",
    "pick_up": "pick up what lies here",
    "rest": "wait for twenty turns, or until a monster comes",
    "eat": "eat something of the inventory",
    "pray": "pray; helps once when nearly dead or weak with hunger, not again for some thousand turns",
}
PLACES = ("fountain", "box", "stairs_down", "item", "sink")


class Failed(SpcaError):
    """A skill has come to nothing; the message says why."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        self.kind: FailureKind = kind
        super().__init__(message)


class Deeds(Record):
    """Deeds that tasks ask for, as the game's own messages tell them."""

    drank: bool = False
    opened: bool = False


class Hero:
    """Plays a game by skills. What it knows of levels is what it saw."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        game.start(seed)
        self.deeds = Deeds()
        self._levels: dict[tuple[int, int], Level] = {}
        self._peaceful: set[int] = set()
        self._look()

    @property
    def level(self) -> Level:
        """The level the hero is on."""
        floor = self.game.floor
        if floor not in self._levels:
            self._levels[floor] = Level()
        return self._levels[floor]

    def enemies(self) -> list[tuple[int, Square, str]]:
        """Monsters in sight that are no pets and not known to be peaceful: distance, square, name."""
        game, (row, column) = nethack(), self.game.position
        return sorted(
            (max(abs(row - r), abs(column - c)), (r, c), name_of(glyph))
            for (r, c), glyph in self.level.monsters.items()
            if not game.glyph_is_pet(glyph) and glyph not in self._peaceful
        )

    def do(self, action: str) -> Remark | None:
        """Carry out one action; what went wrong, if anything did."""
        name, *arguments = action.split() or [""]
        if name not in SKILLS or len(arguments) != (name == "goto"):
            return Remark(kind="not_found", text=f"there is no action '{action[:60]}'")
        try:
            getattr(self, f"_{name}")(*arguments)
        except Failed as failed:
            return Remark(kind=failed.kind, text=str(failed))
        return None

    def _explore(self) -> None:
        level, known, moves = self.level, self.level.kinds(), 0
        enemies = {square for _, square, _ in self.enemies()}
        while moves < _MOST_MOVES:
            frontier = self.level.frontier()
            path = self.level.path(self.game.position, frontier.__contains__) if frontier else None
            if path is None:
                if not moves:
                    raise Failed("not_found", "explore: nothing is left that can be reached")
                return
            for square in path:
                moves += 1
                if not self._step(square):
                    break
                new = level.kinds() - known or self.level is not level
                if self.game.over or self._disturbed(enemies) or new:
                    return

    def _search(self) -> None:
        level = self.level
        square = level.suspect(self.game.position)
        self._walk(level.path(self.game.position, square.__eq__) or [])
        before = len(level.frontier())
        self._press(*str(_SEARCHES), "s")
        level.searched[square] += _SEARCHES
        if len(level.frontier()) <= before:
            raise Failed("no_effect", "search: nothing was found")

    def _goto(self, kind: str) -> None:
        if kind not in PLACES:
            raise Failed("not_found", f"goto {kind[:30]}: places are {', '.join(PLACES)}")
        places = set(self.level.places(kind))
        path = self.level.path(self.game.position, places.__contains__) if places else None
        if path is None:
            raise Failed("not_found", f"goto {kind}: none is known that can be reached")
        self._walk(path)

    def _descend(self) -> None:
        self._goto("stairs_down")
        floor = self.game.floor
        self._press(">")
        if self.game.floor == floor:
            raise Failed("no_effect", "descend: still on the same level")

    def _fight(self) -> None:
        enemies = [e for e in self.enemies() if e[2] != _NEVER_TOUCHED]
        if not enemies:
            raise Failed("not_found", "fight: there is nobody to fight")
        for _ in range(_MOST_BLOWS):
            near = [e for e in self.enemies() if e[2] != _NEVER_TOUCHED]
            if not near or self.game.over:
                return
            distance, square, name = near[0]
            if distance == 1:
                self._strike(square)
                continue
            path = self.level.path(self.game.position, square.__eq__)
            if path is None:
                raise Failed("precondition", f"fight: there is no way to the {name}")
            self._step(path[0])

    def _drink(self) -> None:
        asked = self._press("q")
        if not any("Drink from the fountain" in text for text in asked):
            self._press(ESCAPE)
            raise Failed("precondition", "drink: there is no fountain here")
        self._press(YES)
        self.deeds = self.deeds.model_copy(update={"drank": True})

    def _open_box(self) -> None:
        told = self._press(_LOOT)
        if not any("loot it" in text for text in told):
            self._press(ESCAPE)
            raise Failed("precondition", "open_box: there is no box here")
        told = self._press(YES)
        if any("locked" in text for text in told):
            raise Failed("precondition", "open_box: it is locked")
        if any("open" in text for text in told):
            self.deeds = self.deeds.model_copy(update={"opened": True})
        self._press(ESCAPE)
        if not self.deeds.opened:
            raise Failed("no_effect", f"open_box: {' '.join(told)[:80]}")

    def _force_lock(self) -> None:
        told = self._press(_FORCE)
        if not any("force its lock" in text for text in told):
            self._press(ESCAPE)
            raise Failed("precondition", f"force_lock: {' '.join(told)[:80] or 'no locked box here'}")
        told = self._press(YES)
        if not any("succeed" in text for text in told):
            raise Failed("no_effect", f"force_lock: {' '.join(told)[:80]}")

    def _kick_box(self) -> None:
        boxes = set(self.level.places("box"))
        self._kick(boxes, "box", ("break open", "lid slams", "already open"))

    def _kick_door(self) -> None:
        self._kick(self.level.locked, "door", ("crashes open", "breaks", "shatters", "open"))

    def _pick_up(self) -> None:
        before = self.game.inventory
        self._press(",")
        if self.game.asks or self.game.inventory == before:
            self._press(",", 13)
        if self.game.inventory == before:
            self._press(ESCAPE)
            raise Failed("no_effect", "pick_up: nothing was picked up")

    def _rest(self) -> None:
        enemies = {square for _, square, _ in self.enemies()}
        for _ in range(4):
            self._press("5", "s")
            if self.game.over or self._disturbed(enemies):
                return

    def _eat(self) -> None:
        letter = next((k for k, thing in self.game.inventory.items() if "food ration" in thing), "")
        if not letter:
            raise Failed("precondition", "eat: there is no food")
        self._press("e")
        for _ in range(3):  # food on the floor is offered first
            if not any("eat it?" in text for text in self.game.messages):
                break
            self._press("n")
        self._press(letter)

    def _pray(self) -> None:
        self._press(_PRAY)
        told = self._press(YES)
        if any("displeased" in text for text in told):
            raise Failed("no_effect", "pray: not heard")

    def _look(self) -> None:
        if not self.game.over:
            self.level.look(self.game.glyphs, self.game.position)

    def _press(self, *keys: int | str) -> Sequence[str]:
        told = list(self.game.press(*keys))
        self._look()
        return told

    def _walk(self, path: list[Square]) -> None:
        enemies = {square for _, square, _ in self.enemies()}
        for square in path:
            if not self._step(square):
                raise Failed("no_effect", "the way is blocked")
            if self.game.over or (self._disturbed(enemies) and square != path[-1]):
                raise Failed("no_effect", "a monster came near")

    def _step(self, square: Square) -> bool:
        """To a neighbour; whether the hero is there. What is in the way is hit, or remembered as a bar."""
        here, level = self.game.position, self.level
        direction = KEYS.get((square[0] - here[0], square[1] - here[1]))
        if direction is None:  # a trap has carried the hero away from its path
            return False
        for _ in range(4):
            if any(square == where for _, where, _ in self.enemies()):
                self._strike(square)
            else:
                told = self._press(direction)
                if self.game.asks:
                    self._press(ESCAPE)
                if any("door is locked" in text for text in told):
                    level.locked.add(square)
                    return False
            if self.game.position == square or self.level is not level or self.game.over:
                return True
            if self.game.position != here:
                return False
        if square not in level.monsters:
            level.blocked.add(square)
        return False

    def _strike(self, square: Square) -> None:
        here, creature = self.game.position, self.level.monsters.get(square)
        # Walking into a peaceful monster asks before it hits; the key for fighting does not.
        told = self._press(KEYS[square[0] - here[0], square[1] - here[1]])
        if self.game.asks or any("Really attack" in text for text in told):
            self._press(ESCAPE)
            if creature is not None:
                self._peaceful.add(creature)

    def _kick(self, targets: set[Square], what: str, done: Sequence[str]) -> None:
        ways = [(r, c) for r, c in KEYS if what == "box" or not (r and c)]

        def beside(square: Square) -> bool:
            return square not in targets and any((square[0] + r, square[1] + c) in targets for r, c in ways)

        path = self.level.path(self.game.position, beside) if targets else None
        if path is None:
            raise Failed("not_found", f"kick_{what}: none is known that can be reached")
        self._walk(path)
        row, column = self.game.position
        target, key = next(
            ((row + r, column + c), KEYS[r, c]) for r, c in ways if (row + r, column + c) in targets
        )
        for _ in range(_MOST_BLOWS):
            told = " ".join(self._press(_KICK, key))
            if re.search("|".join(done), told):
                self.level.locked.discard(target)
                return
            if self.game.over or self._disturbed(set()) or self.game.position != (row, column):
                break
            if what == "box" and target not in self.level.places("box"):
                break  # it slid away
        raise Failed("no_effect", f"kick_{what}: {told[:80]}")

    def _disturbed(self, known: set[Square]) -> bool:
        """Return whether an enemy is next to the hero, or one came into sight."""
        enemies = [e for e in self.enemies() if e[2] != _NEVER_TOUCHED]
        return any(distance <= 1 for distance, _, _ in enemies) or (len(enemies) > len(known))


def name_of(glyph: int) -> str:
    """A monster's name."""
    game = nethack()
    if game.glyph_is_normal_monster(glyph) or game.glyph_is_pet(glyph):
        return str(game.permonst(game.glyph_to_mon(glyph)).mname)
    return "something"

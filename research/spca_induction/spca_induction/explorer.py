"""Record of what was tried in which surroundings, and the way to what was tried least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from spca_induction.helpers import wc_context
from spca_induction.view import Frame, FrameFinder, look
from spca_programs.experience import Program, Transition
from spca_programs.state import State, difference, to_json
from spca_worldcoder.prelude import wc_load
from spca_worldcoder.sandbox import ModelRunner, plan_in

_REACH = 2
"""How many cells ahead surroundings go."""
_WEIGHT = 8.0
"""A step that was tried once costs as much as so many steps of way."""
_LOSS = 16.0
"""A step by which one thing fewer is left of what the mission names costs as much as so many steps of way."""
_ENOUGH, _KNOWN = 3, 6.0
"""An action that did the same in so many surroundings (always something, or nothing) loses appeal too."""
_DULL, _DULLEST = 0.4, 3.0
"""A class on which nothing ever had an effect loses its appeal."""


class Explorer:
    """Counts the (action, surroundings) of all transitions.

    Surroundings are what lies ahead and what is held.
    """

    def __init__(self, runner: ModelRunner) -> None:
        self._runner = runner
        self._finder = FrameFinder()
        self._frame: Frame | None = None
        self._seen: list[Transition] = []
        self._tried: Counter[str] = Counter()
        self._by_action: Counter[str] = Counter()
        self._moved: set[str] = set()
        self._variable: set[str] = set()
        self._idle: Counter[str] = Counter()
        self._tries = 0
        self._outcomes: dict[str, tuple[Counter[bool], set[str]]] = {}

    def look_closer(self, tries: int) -> None:
        """After so many fruitless episodes in a row: look one cell further, and try things more often."""
        if (tries > 0) != (self._tries > 0):
            self._frame = None  # count anew
        self._tries = tries
        self.see()

    def see(self, *new: Transition) -> None:
        """Count steps, repeated ones too."""
        self._seen += new
        for seen in new:
            self._finder.add(seen)
        known = (self._frame, set(self._moved), set(self._variable))
        self._frame = self._finder.frame()
        for seen in new:
            self._learn_classes(seen)
            self._by_action[seen.action] += 1
        if (self._frame, self._moved, self._variable) != known:
            self._tried.clear()
            self._idle.clear()
            self._outcomes.clear()
            new = tuple(self._seen)
        for seen in new:
            self._count(seen)

    def _learn_classes(self, seen: Transition) -> None:
        gone, new = difference(seen.before, seen.after)
        for one in gone:
            if self._frame is None or one.kind == self._frame.mover:
                continue
            here = next((e for e in new if e.kind == one.kind and e.cell == one.cell), None)
            if here is not None:
                self._variable.update(n for n, v in one.attributes if here.get(n) != v)
            elif any(e.kind == one.kind and e.attributes == one.attributes for e in new):
                self._moved.add(one.kind)

    def _count(self, seen: Transition) -> None:
        if self._frame is None:
            return
        name = self._name(seen.before, seen.action)
        self._tried[name] += 1
        view = look(seen.before, seen.action, self._frame)
        held = view.held.kind if view is not None and view.held is not None else ""
        changed, surroundings = self._outcomes.setdefault(f"{seen.action}&{held}", (Counter(), set()))
        changed[seen.before != seen.after] += 1
        surroundings.add(name)
        if view is not None and len(view.cells) > 1:
            idle = seen.before == seen.after
            for kind in {e.kind for e in view.cells[1]} or {""}:
                self._idle[kind] = self._idle[kind] + 1 if idle else -100 if kind else self._idle[kind]

    def _name(self, state: State, action: str) -> str:
        return wc_context(wc_load(to_json(state)), action, self._frame_json(), self._counts())[0]

    def _frame_json(self) -> list[Any]:
        assert self._frame is not None
        moves = {action: list(vector) for action, vector in self._frame.moves}
        return [self._frame.mover, self._frame.facing, self._frame.holding, moves, _REACH + (self._tries > 0)]

    def _counts(self) -> dict[str, Any]:
        dull = {kind: min(_DULLEST, _DULL * n) for kind, n in self._idle.items() if n > 0}
        known = {}
        for action, (changed, surroundings) in self._outcomes.items():
            if len(changed) == 1 and len(surroundings) >= _ENOUGH:
                known[action] = _KNOWN if changed[True] else min(_KNOWN, 0.6 * len(surroundings))
        return {
            "known": known,
            "tried": dict(self._tried),
            "weight": _WEIGHT,
            "loss": _LOSS,
            "dull": dull,
            "moved": sorted(self._moved),
            "variable": sorted(self._variable),
        }

    def way(
        self, program: Program, state: State, mission: str, actions: Sequence[str]
    ) -> tuple[list[str], bool]:
        """Actions to the least tried step the program can reach, and whether it is still worth trying."""
        if self._frame is not None:
            asked = [to_json(state), mission, list(actions), self._frame_json(), self._counts()]
            found = self._runner.search("wc_explore", program, asked)
            plan = plan_in(found[1]) if isinstance(found, list) and len(found) == 2 else None
            if plan is not None:
                states = self._runner.follow(program, state, plan[:-1]) if plan[1:] else [state]
                name = self._name(states[-1], plan[-1]) if states is not None else ""
                return plan, not name or self._tried[name] < _ENOUGH + self._tries
        return [min(actions, key=lambda action: (self._by_action[action], actions.index(action)))], True

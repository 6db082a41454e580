"""Clauses of the rules as PDDL actions, with the cells ahead as parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from spca_induction.effects import MATRICES, Effect, Role, roles
from spca_induction.pddl.conditions import (
    FALSE,
    TRUE,
    Assumed,
    conjunction,
    consistent,
    disjunction,
    formula,
    not_all,
)
from spca_induction.pddl.vocabulary import COMPASS, NotCompilable, Vocabulary
from spca_induction.rulebook import Clause, Rulebook


class ActionWriter:
    """Writes the actions of a domain. Raises NotCompilable."""

    def __init__(self, rules: Rulebook, words: Vocabulary, actions: Sequence[str]) -> None:
        self._rules, self._words, self._actions = rules, words, actions
        self.prized = ""
        """The class that the goal wants in certain cells, if it can only be pushed."""
        self._carried = 0
        self._assumed: Assumed | None = None
        self._holdable = {words.held.kind} if words.held is not None else set()
        for number, action in enumerate(actions):
            taken = any(e[0] == "take" for c in rules.clauses(action) for e in c.effects)
            for text in self._action(number, action) if taken else ():
                self._holdable |= {
                    kind for kind, k in words.kinds.items() if f"(h_{k})" in text.partition(":effect")[2]
                }

    def texts(self) -> list[str]:
        """All actions, named `a<index of the action>_…`."""
        return [text for i, action in enumerate(self._actions) for text in self._action(i, action)]

    def _action(self, number: int, action: str) -> Iterator[str]:
        clauses = self._rules.clauses(action)
        for i, clause in enumerate(clauses):
            if any(e[0] == "step" and e[1] < 0 for e in clause.effects):
                raise NotCompilable("the mover steps back")
            for variant, (filled, assumed) in enumerate(self._variants(clauses[: i + 1])):
                self._assumed = assumed
                text = self._variant(f"a{number}_{i}_{variant}", action, clauses[: i + 1], filled)
                self._assumed = None
                if text:
                    yield text

    def _variants(self, clauses: Sequence[Clause]) -> Iterator[tuple[dict[Role, str], Assumed | None]]:
        """Ways to fill the roles of the last clause and, for conjunctive exceptions, what is met and held.

        A disjunction in a precondition doubles the actions of the planner, so what decides most of them is
        fixed first.
        """
        clause = clauses[-1]
        complex_ones = sum(len(c) > 1 for one in clauses for c in one.unless)
        split = (
            bool(self._words.frame.holding)
            and self._words.single
            and complex_ones > 1
            and any(c.reach for c in clauses)
        )
        for filled in self._fillings(clause):
            if not split:
                yield filled, None
                continue
            for ahead, held in itertools.product((None, *self._words.kinds), repeat=2):
                fits = all(
                    (kind == held) if role == ("held",) else (role[1] != 1 or kind == ahead)
                    for role, kind in filled.items()
                )
                if fits:
                    yield filled, (ahead, held)

    def _variant(self, name: str, action: str, clauses: Sequence[Clause], filled: dict[Role, str]) -> str:
        """The action's text; empty where it can never be applied."""
        clause, own = clauses[-1], self._words.frame.compass.get(action)
        reach = max([0, *(c.reach for c in clauses)])
        parameters = [f"?c{k} - cell" for k in range(reach + 1)]
        conditions = ["(me ?c0)"]
        direction = f"d{COMPASS.index(own)}" if own is not None else "?d"
        turns = [e for e in clause.effects if e[0] == "turn"]
        if own is None and (reach or turns):
            if not self._words.frame.facing:
                raise NotCompilable(f"'{action}' has no direction")
            parameters.append("?d - dir")
            conditions.append("(facing ?d)")
        conditions += [f"(next ?c{k} ?c{k + 1} {direction})" for k in range(reach)]
        for turn in turns:
            if turn[1] != self._words.frame.facing or turn[2] not in MATRICES:
                raise NotCompilable(f"'{action}' turns what is no heading")
            parameters.append("?e - dir")
            conditions.append(f"(r{MATRICES.index(turn[2])} ?d ?e)")
        conditions += self._present(clause, filled)
        if self._assumed is not None:
            ahead, held = self._assumed
            conditions += (
                [f"(not ({k} ?c1))" for k in self._words.kinds.values()]
                if ahead is None
                else [f"({self._words.kinds[ahead]} ?c1)"]
            )
            conditions.append("(free)" if held is None else f"(h_{self._words.kinds[held]})")
        self._carried = 0
        effects = [text for e in clause.effects for text in self._effect(e, filled, conditions)]
        conditions += [
            f"(live ?c{e[1][1] + e[2]})"
            for e in clause.effects
            if e[0] == "push" and filled[e[1]] == self.prized
        ]
        parameters += [f"?w{k} - val" for k in range(1, self._carried + 1)]
        conditions += [
            not_all([formula(one, self._words, self._assumed) for one in c]) for c in clause.unless
        ]
        conditions += [self._silent(earlier) for earlier in clauses[:-1]]
        condition = conjunction(consistent(conditions))
        if condition == FALSE:
            return ""
        return (
            f" (:action {name}\n  :parameters ({' '.join(parameters)})\n"
            f"  :precondition {condition}\n  :effect (and {' '.join(effects)}))"
        )

    def _fillings(self, clause: Clause) -> Iterator[dict[Role, str]]:
        """Classes for the roles of a clause, and for what is held where that matters."""
        wanted: list[tuple[Role, list[str]]] = []
        for role in dict.fromkeys(roles(clause.effects)):
            if role[0] == "cell":
                wanted.append((role, [role[2]] if role[2] in self._words.kinds else []))
            elif role[0] == "any":
                wanted.append((role, list(self._words.kinds)))
            else:
                raise NotCompilable(f"a clause is about {role[0]} {role[1]}")
        names = {e[0] for e in clause.effects}
        if names & {"put", "consume"}:
            if "take" in names:
                raise NotCompilable("what is held is exchanged")
            wanted.append((("held",), [kind for kind in self._words.kinds if kind in self._holdable]))
        for chosen in itertools.product(*(kinds for _, kinds in wanted)):
            yield {role: kind for (role, _), kind in zip(wanted, chosen, strict=True)}

    def _present(self, clause: Clause, filled: dict[Role, str]) -> list[str]:
        found = []
        for role, kind in filled.items():
            if role == ("held",):
                found.append(f"(h_{self._words.kinds[kind]})")
                continue
            found.append(f"({self._words.kinds[kind]} ?c{role[1]})")
            if role[0] == "any" and not self._words.single:
                found += [
                    f"(not ({k} ?c{role[1]}))" for other, k in self._words.kinds.items() if other != kind
                ]
        return found

    def _silent(self, clause: Clause) -> str:
        """That an earlier clause does not fire."""
        ways = [conjunction([formula(one, self._words, self._assumed) for one in c]) for c in clause.unless]
        for role in dict.fromkeys(roles(clause.effects)):
            if role[0] == "cell":
                ways.append(
                    f"(not ({self._words.kinds[role[2]]} ?c{role[1]}))"
                    if role[2] in self._words.kinds
                    else TRUE
                )
            elif role[0] == "any":
                ways.append(conjunction([f"(not ({k} ?c{role[1]}))" for k in self._words.kinds.values()]))
        if {"put", "consume"} & {e[0] for e in clause.effects}:
            ways.append("(free)")
        for effect in clause.effects:
            if effect[0] == "set" and effect[1][0] == "cell":
                continue
            if effect[0] == "set":  # only what has the attribute can have it changed
                having = [
                    self._words.kinds[k] for k, known in self._words.schema.items() if effect[2] in known
                ]
                ways.append(conjunction([f"(not ({k} ?c{effect[1][1]}))" for k in having]))
        return disjunction(ways)

    def _effect(self, effect: Effect, filled: dict[Role, str], conditions: list[str]) -> Iterator[str]:  # noqa: PLR0912
        match effect:
            case ("step", m):
                yield f"(not (me ?c0)) (me ?c{m})"
            case ("turn", _, _):
                yield "(not (facing ?d)) (facing ?e)"
            case ("mine", name, value):
                if name not in self._words.mine or self._words.known_value(value) is None:
                    raise NotCompilable(f"the mover's '{name}' changes")
                yield (
                    f"(forall (?v - val) (not ({self._words.mine[name]} ?v))) "
                    f"({self._words.mine[name]} {self._words.value(value)})"
                )
            case ("push", role, m):
                kind, start = filled[role], role[1]
                if start + m < 0:
                    raise NotCompilable("something is drawn behind the mover")
                yield self._leave(kind, start) + self._arrive(kind, start + m)
                for name in self._words.schema[kind]:
                    predicate = self._words.attribute(kind, name)
                    yield self._carry(f"{predicate} ?c{start}", f"{predicate} ?c{start + m}", conditions)
            case ("set", role, name, value):
                kind = filled[role]
                if name not in self._words.schema[kind]:
                    conditions.append(FALSE)
                    return
                predicate = self._words.attribute(kind, name)
                others = [v for v in self._words.values.values() if v != self._words.value(value)]
                yield " ".join(f"(not ({predicate} ?c{role[1]} {v}))" for v in others)
                yield f"({predicate} ?c{role[1]} {self._words.value(value)})"
            case ("remove", role):
                yield self._leave(filled[role], role[1])
                for name in self._words.schema[filled[role]]:
                    predicate = self._words.attribute(filled[role], name)
                    yield self._carry(f"{predicate} ?c{role[1]}", "", conditions)
            case ("take", role):
                kind = filled[role]
                yield self._leave(kind, role[1]) + f" (not (free)) (h_{self._words.kinds[kind]})"
                for name in self._words.schema[kind]:
                    one, other = (
                        self._words.attribute(kind, name),
                        f"h_{self._words.names[name]}",
                    )
                    yield self._carry(f"{one} ?c{role[1]}", other, conditions)
            case ("put", k):
                kind = filled["held",]
                yield self._arrive(kind, k) + f" (free) (not (h_{self._words.kinds[kind]}))"
                for name in self._words.schema[kind]:
                    one, other = (
                        f"h_{self._words.names[name]}",
                        self._words.attribute(kind, name),
                    )
                    yield self._carry(one, f"{other} ?c{k}", conditions)
            case ("consume",):
                kind = filled["held",]
                yield f"(free) (not (h_{self._words.kinds[kind]}))"
                for name in self._words.schema[kind]:
                    yield self._carry(f"h_{self._words.names[name]}", "", conditions)
            case ("create", k, kind, attributes):
                yield self._arrive(kind, k)
                for name, value in attributes:
                    yield f"({self._words.attribute(kind, name)} ?c{k} {self._words.value(value)})"
            case _:
                raise NotCompilable(f"the effect '{effect[0]}' is not known here")

    def _leave(self, kind: str, k: int) -> str:
        return f"(not ({self._words.kinds[kind]} ?c{k}))"

    def _arrive(self, kind: str, k: int) -> str:
        return f" ({self._words.kinds[kind]} ?c{k})"

    def _carry(self, source: str, target: str, conditions: list[str]) -> str:
        """A fact's value goes over to another (or away): a parameter is cheaper than a conditional effect."""
        self._carried += 1
        value = f"?w{self._carried}"
        conditions.append(f"({source} {value})")
        return f"(not ({source} {value}))" + (f" ({target} {value})" if target else "")

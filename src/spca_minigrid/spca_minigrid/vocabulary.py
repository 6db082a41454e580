"""MiniGrid's link between an observation's words and PDDL's."""

from __future__ import annotations

from spca_core.observation import Observation
from spca_core.ports.vocabulary import ObservableWord
from spca_core.task import Task
from spca_planner.critics.vocabulary import FactVocabulary

_WORDS = (
    ObservableWord(name="located", args=("?thing",), meaning="it has been seen, and is not carried"),
    ObservableWord(name="held", args=("?thing",), meaning="the agent carries it"),
    ObservableWord(name="hand_free", args=(), meaning="the agent carries nothing"),
    ObservableWord(
        name="may_be", args=("?word", "?thing"), meaning="a word of the mission may mean this thing"
    ),
    ObservableWord(name="locked", args=("?door",), meaning="the door is locked"),
    ObservableWord(name="opens", args=("?key", "?door"), meaning="the key has the colour of the locked door"),
    ObservableWord(name="report_wanted", args=(), meaning="the agent has to report when it has arrived"),
)


class MissionVocabulary(FactVocabulary):
    """Name a mission's words and the things that they may mean by different symbols.

    A goal may use either.
    """

    def words(self) -> tuple[ObservableWord, ...]:
        """Return the words for what has been seen of the things, and for what the agent carries."""
        return _WORDS

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """Nothing in particular; whether the goal was the right one shows when the level gives its reward."""
        return ()

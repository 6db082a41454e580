"""Questions about the scene: the answer stands in place of a goal."""

from __future__ import annotations

from collections.abc import Callable

from spca_core.kinds import SOLIDS
from spca_core.names import words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.talk import ANYTHING, TANGIBLE, Meaning, Talk
from spca_tabletop.language.things import Det, Nominal, Thing, Where, named, rule


class Answered(NotUnderstood):
    """The text is a question, and has this answer."""

    def __init__(self, answer: str) -> None:
        super().__init__(f"{answer} (That was a question; nothing is done.)")
        self.answer = answer


def answering(answer: Callable[[Talk], str]) -> Meaning:
    """A question's meaning."""

    def meaning(talk: Talk) -> list[Talk]:
        try:
            told = answer(talk)
        except (NotUnderstood, Impossible) as error:  # that, too, is an answer
            told = str(error)
        raise Answered(told)

    return meaning


def _listed(things: list[str]) -> str:
    return ", ".join(f"the {words_of(s)}" for s in things) or "nothing"


@rule("Text -> Question")
def asked(question: Meaning) -> Meaning:
    return question


@rule("Question -> SEEN")
def what_is_seen() -> Meaning:
    return answering(lambda talk: " ".join(talk.table.scene.sentences))


@rule("Question -> HOW_MANY Named", "Question -> HOW_MANY Named IS? THERE",
      "Question -> HOW_MANY Named IS Where")  # fmt: skip
def how_many(noun: Nominal, test: Where | None = None) -> Meaning:
    def answer(talk: Talk) -> str:
        try:
            found = named(Thing(noun=noun, text=noun.text), talk)
        except NotUnderstood:
            found = []
        found = test.of(noun)(found, talk, noun) if test else found
        return f"There are {len(found)}: {_listed(found)}."

    return answering(answer)


@rule("Question -> WHAT|THAT Named? IS Where")
def what_is(noun: Nominal | None, test: Where) -> Meaning:
    def answer(talk: Talk) -> str:
        things = named(Thing(Det("all"), noun), talk) if noun else talk.table.of(*TANGIBLE)
        return f"It is {_listed(test.of(Nominal())(things, talk, Nominal()))}."

    return answering(answer)


@rule("Question -> WHAT IN_HAND")
def what_is_held() -> Meaning:
    def answer(talk: Talk) -> str:
        return f"I hold {_listed([s for s in talk.table.of(*SOLIDS) if ('held', s) in talk.table.facts])}."

    return answering(answer)


@rule("Question -> IS Thing Where")
def is_it(thing: Thing, test: Where) -> Meaning:
    def answer(talk: Talk) -> str:
        things = named(thing, talk)
        return "Yes." if test.of(thing.noun)(things, talk, thing.noun) == things else "No."

    return answering(answer)


@rule("Question -> WHAT_COLOUR IS Thing")
def what_colour(thing: Thing) -> Meaning:
    def answer(talk: Talk) -> str:
        colours = talk.table.colours
        return " ".join(f"The {words_of(s)} is {colours.get(s, 'colourless')}." for s in named(thing, talk))

    return answering(answer)


@rule("Question -> WHERE IS Thing", "Question -> WHAT IS Thing ON|IN")
def where_is(thing: Thing) -> Meaning:
    def answer(talk: Talk) -> str:
        places = ((s, talk.table.support_of(s)) for s in named(thing, talk, ANYTHING))
        return " ".join(f"The {words_of(s)} is on the {words_of(on) or '?'}." for s, on in places)

    return answering(answer)

"""Language models as the source of plans and skills: the proposer `openai`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spca.learned import folder_of, recording_of
from spca.proposals import Proposals
from spca_coder.language import LanguageCoder
from spca_core.options import REPLAY, RunOptions
from spca_core.plan import Mode
from spca_core.ports.chat import Role
from spca_core.ports.kit import Kit
from spca_core.run_folder import RunFolder
from spca_llm.chat import Chat, NotInVain, open_chat
from spca_llm.config import LlmConfig, load_config
from spca_planner.language import LanguageProposer, told_of
from spca_planner.trusted import Actions, TrustedDomains, actions_of
from spca_sense.remarks import LanguageVision

LLM = "llm"
"""Name of the folder, in a run's folder, where every exchange with a model is recorded."""
_WRITERS: tuple[Role, ...] = ("planner_big", "planner_small", "coder")
_PLANNER_ROLES: dict[Mode, Role] = {
    "fresh": "planner_big",
    "reuse": "planner_small",
    "replan": "planner_big",
    "repair": "planner_big",
}


@contextmanager
def open_openai(kit: Kit, options: RunOptions, folder: RunFolder) -> Iterator[Proposals]:
    """Open language models behind a server that speaks the OpenAI protocol, as long as the context lasts."""
    domains = TrustedDomains(folder_of(options, folder) / "domains")

    def actions() -> Actions:  # of the skills that there are
        own = () if options.skills == "empty" else kit.builtin().domains
        return actions_of(own, domains.all(kit.name))

    vocabulary = kit.vocabulary()
    chat = open_models(options, folder.path / LLM)
    budgets, told = options.budgets, (vocabulary, actions, kit.room(options), dict[str, list[str]]())
    asking = NotInVain(chat, {"coder": budgets.code_drafts}, budgets.drafts)
    yield Proposals(
        planner={m: LanguageProposer(asking, r, *told) for m, r in _PLANNER_ROLES.items()},
        coder=LanguageCoder(asking),
        actions=lambda: told_of(actions(), vocabulary.words()),
        vision=LanguageVision(chat) if options.vision else None,
        learns=True,
        usage=chat.ledger.totals,
    )


def open_models(options: RunOptions, folder: Path) -> Chat:
    """Open the models of a run, recording into `folder`. Raises InputError unless each of them answers."""
    roles: tuple[Role, ...] = (*_WRITERS, "vision") if options.vision else _WRITERS
    replay = options.llm.startswith(REPLAY)
    config = None if replay else _shared(load_config(Path(options.llm) if options.llm else None))
    chat = open_chat(recording_of(options.llm) if replay else "", folder, config)
    chat.preflight(roles)
    return chat


def _shared(config: LlmConfig) -> LlmConfig:
    """Return the configuration in which planners and coder stand in for those of them that are missing.

    A model for images has no substitute.
    """
    found = next((config.roles[role] for role in _WRITERS if role in config.roles), None)
    substitutes = dict.fromkeys(_WRITERS, found) if found is not None else {}
    return config.model_copy(update={"roles": {**substitutes, **config.roles}})

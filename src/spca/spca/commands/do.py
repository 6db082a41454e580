"""`spca do`: a sentence instead of a level, or a conversation over one table that stays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import LEVELS
from spca.commands.options import OVER_ROS, takes, transport_of

app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS,
    epilog='Examples:  spca do "put the red cube on the blue plate" · spca do --preset shuffled · '
    "spca do < sentences.txt",
)
@takes(
    "world", "preset", "seed", "proposer", "llm", "robot", "view", "rate", "video",
    proposer="auto", video=False,
)  # fmt: skip
def do(
    sentence: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to do; without one, sentences are read until the input ends.", show_default=False
        ),
    ] = None,
    *,
    wanted: dict[str, Any],
    ros: Annotated[bool, typer.Option("--ros", help=OVER_ROS)] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Show each plan and ask before the arm moves.")] = False,
    out: Annotated[Path | None, typer.Option(help="The run's folder, for a single sentence.")] = None,
) -> None:
    """Do what a sentence says, on a table without a level; a look afterwards judges whether it is done.

    Without a sentence, a conversation: tasks, questions such as "what do you see?" and "why?".
    Exit status 0 if everything was seen to hold, 1 if not, 2 bad input, 130 interrupted.
    """
    from spca.api import session
    from spca.console import Progress
    from spca.conversation import Conversation, approving
    from spca_core.errors import InputError

    if out is not None and not sentence:
        raise InputError("--out", hint="is for a single sentence: give one")
    with Progress() as progress:
        progress.say("laying the table …")
        wanted["transport"] = transport_of(ros)
        on_page = wanted["view"] == "web"
        approve = approving(progress) if ask and not on_page else None
        with session(on_event=progress, approve=approve, report=False, **wanted) as table:
            talk, said = Conversation(table, progress), " ".join(sentence or ())
            if table.page is not None:
                table.page.ask(ask)
                done = talk.on_page((lambda: talk.carry_out(said, out)) if said else None)
            else:
                done = talk.once(said, out) if sentence else talk.in_terminal()
    raise typer.Exit(0 if done else 1)

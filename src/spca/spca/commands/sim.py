"""`spca sim`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from spca.commands import MACHINE
from spca_core.model import checked

app = typer.Typer()


@app.command(
    rich_help_panel=MACHINE,
    epilog="Examples:  spca sim · spca sim --rate 1 --view",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def sim(
    context: typer.Context,
    rate: Annotated[
        float | None, typer.Option(help="Real-time factor at most; as fast as it can by default.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Open a live window (needs a display).")] = False,
) -> None:
    """Run the simulator as a ROS node until Ctrl-C: a table that stays, for `spca run|do … --ros`."""
    from spca.ros import require_ros
    from spca_core.errors import InputError, did_you_mean

    for other in context.args[:1]:
        laid = "what runs on it lays the table: `spca run LEVEL --ros --world WORLD`"
        hint = did_you_mean(other, ("--rate", "--view")) or laid
        raise InputError(f"no such option: {other}", "spca sim", hint)
    require_ros()  # before anything of ROS is imported
    from spca.ros.graph import SIMULATOR, robot_is_there, simulator
    from spca_core.options import RunOptions
    from spca_core.processes.child import python_command
    from spca_ros import names
    from spca_ros.domain import claim, domain_in
    from spca_ros.node_process import CONFIG

    if robot_is_there():
        hint = "`spca run --ros` uses it; or end it, or take another domain: export ROS_DOMAIN_ID=…"
        raise InputError(f"there is a robot in the ROS domain {domain_in()} already", "ROS_DOMAIN_ID", hint)
    options = checked(RunOptions, level="stack_01", rate=rate, view=view)
    given = [part for name, value in simulator(options).items() for part in ("-p", f"{name}:={value}")]
    command = python_command(
        "spca_sim.node", "--ros-args", "--params-file", str(CONFIG / "nodes.yaml"), *given
    )
    os.set_inheritable(claim(domain_in(), SIMULATOR).detach(), True)  # it lasts as long as the node
    typer.echo(f"the node {names.SIM} is in the ROS domain {domain_in()}", err=True)
    os.execv(command[0], command)

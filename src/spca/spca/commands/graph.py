"""`spca up`, `spca down`, `spca status`, `spca env`: the graph that stays up between runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import MACHINE
from spca.commands.options import VIEW
from spca_core.checked import checked

app = typer.Typer()


@app.command(
    rich_help_panel=MACHINE,
    epilog=(
        "Examples:  spca up · spca up --sim gazebo --arm moveit · spca up --level sign_01 --idle-minutes 5"
    ),
)
def up(
    sim: Annotated[str, typer.Option(help="The simulator: mujoco or gazebo.")] = "mujoco",
    arm: Annotated[str, typer.Option(help="The motion planner: embedded or moveit.")] = "embedded",
    robot: Annotated[str, typer.Option(help="The robot in Gazebo: generated or vendor.")] = "generated",
    level: Annotated[
        str, typer.Option(help="A level whose environment and world the nodes are started with.")
    ] = "stack_01",
    rate: Annotated[
        float | None, typer.Option(help="Real-time factor; as fast as it can by default.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help=VIEW)] = False,
    web: Annotated[bool, typer.Option("--view-web", hidden=True)] = False,
    idle_minutes: Annotated[
        float, typer.Option(min=0.1, help="End after this many minutes without a run.")
    ] = 30.0,
    secure: Annotated[
        Path | None,
        typer.Option(
            help="An SROS2 keystore; only nodes with a key from it can communicate (where ROS has security)."
        ),
    ] = None,
    detach: Annotated[
        bool,
        typer.Option(
            "--detach", help="Keep the graph when this terminal is closed; by default it ends then."
        ),
    ] = False,
) -> None:
    """Start the nodes and return when they are ready; `spca run --transport ros` then uses them."""
    from spca.ros_ready import require_ros

    require_ros()  # before anything of ROS is imported
    from spca.ros.processes import Backends
    from spca.ros.up import start
    from spca_core.options import RunOptions

    options = checked(RunOptions, level=level, rate=rate, view="web" if web else view)
    choice = checked(Backends, sim=sim, arm=arm, robot=robot)
    start(options, choice, 60.0 * idle_minutes, detach, secure)


@app.command(rich_help_panel=MACHINE)
def down() -> None:
    """End the nodes that `spca up` has started, and the run that uses them."""
    from spca.ros.up import stop

    stop()


@app.command(rich_help_panel=MACHINE, epilog="Exit status: 0 up and ready · 1 not up, or not ready")
def status() -> None:
    """Show the nodes that are up: their states, process ids and domain."""
    from spca.ros.up import show

    raise typer.Exit(show())


@app.command(rich_help_panel=MACHINE, epilog='Example:  eval "$(spca env)"')
def env() -> None:
    """Print what bash has to run so that ROS programs know spca's messages, and the graph that is up."""
    import sys
    from importlib.util import find_spec
    from shlex import quote

    from spca.ros_ready import require_ros

    require_ros()
    from spca.ros import standing
    from spca_ros.environment import CLOSED

    found = find_spec("spca_interfaces")
    assert found is not None and found.origin is not None
    # colcon's folder with a prefix for each package, or one prefix for all
    setups = [folder / "local_setup.bash" for folder in reversed(Path(found.origin).parents[4:6])]
    lines = [f". {quote(str(setup))}" for setup in setups if setup.is_file()]
    lines.append(f"export PATH={quote(str(Path(sys.prefix) / 'bin'))}:$PATH")
    if (graph := standing.find()) is not None:
        variables = {**CLOSED, "ROS_DOMAIN_ID": str(graph.domain)}
        lines += [f"export {name}={quote(value)}" for name, value in variables.items()]
    typer.echo("\n".join(lines))

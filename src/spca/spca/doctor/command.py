"""The command `spca doctor`."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca.doctor import embedded, full_stack, ros
from spca.doctor.embedded import model_server
from spca.doctor.finding import Check, Finding, guarded
from spca.doctor.plugins import examine_plugins
from spca.terminal import results

CHECKS: tuple[tuple[str, Check], ...] = (
    ("Python", embedded.python),
    ("embedded run", embedded.simulator),
    ("OpenGL (EGL, OSMesa)", embedded.rendering),
    ("sandbox", embedded.sandbox),
    ("ROS 2", ros.rclpy),
    ("spca_interfaces", ros.interfaces),
    ("ros2 launch", ros.launch),
    ("Gazebo Harmonic", full_stack.gazebo),
    ("MoveIt 2", full_stack.moveit),
    ("robot descriptions", full_stack.robot_descriptions),
    ("RViz 2", full_stack.rviz),
    ("Docker", full_stack.docker),
    ("model server", model_server),
)
_STYLES = {"ready": "green", "partly": "yellow", "missing": "red", "off": "dim"}
# What each way to run needs.
_WAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("bin/spca run LEVEL", ("Python", "embedded run")),
    ("bin/spca run LEVEL", ("Python", "embedded run", "ROS 2", "spca_interfaces")),
    (
        "ros2 launch spca bringup.launch.py level:=LEVEL sim:=mujoco arm:=embedded",
        ("embedded run", "ROS 2", "spca_interfaces", "ros2 launch"),
    ),
    (
        "ros2 launch spca bringup.launch.py level:=LEVEL",
        ("embedded run", "ROS 2", "spca_interfaces", "ros2 launch", "Gazebo Harmonic", "MoveIt 2"),
    ),
    ("docker compose run spca LEVEL", ("Docker",)),
)


def examine(checks: Iterable[tuple[str, Check]] = CHECKS) -> list[Finding]:
    """Run all checks."""
    return [guarded(what, check) for what, check in checks]


def ways(findings: Iterable[Finding]) -> list[tuple[str, list[str]]]:
    """Each way to run, with what it still lacks (nothing: it can be used)."""
    ready = {finding.what for finding in findings if finding.state == "ready"}
    return [(command, [what for what in needs if what not in ready]) for command, needs in _WAYS]


def show(findings: list[Finding], console: Console) -> None:
    """Print the table, then which ways to run are open."""
    show_findings(findings, console)
    console.print()
    for command, lacking in ways(findings):
        if lacking:
            console.print(
                f"[red]no[/red]   {command}   [dim]lacks {', '.join(lacking)}[/dim]", highlight=False
            )
        else:
            console.print(f"[green]yes[/green]  {command}", highlight=False)


def show_findings(findings: list[Finding], console: Console) -> None:
    """Print a table of findings; in a pipe, a line each and one for each remedy."""
    if not console.is_terminal:
        width = max((len(finding.what) for finding in findings), default=0)
        for finding in findings:
            console.print(f"{finding.what:<{width}}  {finding.state:<7}  {finding.found}", markup=False)
            if finding.remedy:
                console.print(f"{'':<{width}}  → {finding.remedy}", markup=False)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        said = Text(finding.found)
        if finding.remedy:
            said.append(f"\n→ {finding.remedy}", style="dim")
        table.add_row(finding.what, Text(finding.state, style=_STYLES[finding.state]), said)
    console.print(table)


def doctor() -> None:
    """Show what this machine can run, version by version, and what to install for the rest. Exit status 0."""
    console = results()
    show(examine(), console)
    console.print("\n[bold]Extensions[/bold]")
    show_findings(examine_plugins(), console)

"""`spca up`, `spca down`, `spca status`: starts, ends and shows the graph that stays up."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from rich.table import Table

from spca.rooted import rooted
from spca.ros import standing
from spca.ros.processes import Backends, check_installed, processes
from spca.ros.standing import Standing, UpRequest
from spca.terminal import notices, results
from spca_core.errors import EXIT_BAD_INPUT, EXIT_NOT_SOLVED, EXIT_SUCCESS, InputError, SpcaError
from spca_core.options import RunOptions
from spca_core.processes.child import python_command
from spca_ros import security
from spca_sim.display import require_display

_TICK_S = 0.05


def start(
    options: RunOptions, choice: Backends, idle_s: float, detach: bool, keystore: Path | None = None
) -> None:
    """Start the daemon and return when its nodes are ready. Raises what keeps them from it."""
    console = notices()
    if (pid := standing.daemon()) is not None and standing.silent():
        raise SpcaError(standing.hanging(pid))
    if (found := standing.find()) is not None:
        console.print(f"already up: {_headline(found)}")
        return
    check_installed(choice)
    options = rooted(options)
    if options.view == "web":
        from spca_sim.web_view import ADDRESS, PORT, require_viser  # loads MuJoCo

        require_viser(PORT)
        if choice.sim != "mujoco":
            raise InputError("--view web", hint="shows --sim mujoco only")
    elif options.view:
        require_display()
    processes(options, choice)  # an unknown level is reported here, before anything starts
    secured = security.variables(keystore) if keystore is not None else {}
    _, _, logs = standing.files()
    logs.mkdir(parents=True, exist_ok=True)
    order = UpRequest(
        options=options, choice=choice, idle_s=idle_s, secured=secured, terminal="" if detach else _terminal()
    )
    began = time.monotonic()
    with (logs / standing.DAEMON_LOG).open("wb") as out:
        daemon = subprocess.Popen(
            python_command("spca.ros.daemon", order.model_dump_json()),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **secured},
            start_new_session=True,  # Ctrl-C in this terminal is for the runs in it
        )
    try:
        with console.status("starting the nodes …"):
            while (found := standing.find()) is None or not found.ready:
                if (exit_status := daemon.poll()) is not None:
                    kind = InputError if exit_status == EXIT_BAD_INPUT else SpcaError
                    raise kind(standing.last_words())
                if found is not None and found.hangs:
                    raise SpcaError(standing.hanging(found.pid))
                time.sleep(_TICK_S)
    except KeyboardInterrupt:
        daemon.terminate()
        daemon.wait(standing.END_S)
        raise
    seconds = time.monotonic() - began
    console.print(f"up in {seconds:.1f} s: {_headline(found)}", soft_wrap=True)
    if options.view == "web":
        console.print(f"view {ADDRESS}", soft_wrap=True)


def stop() -> None:
    """End the graph and wait until it has ended."""
    console = notices()
    if (pid := standing.daemon()) is None:
        console.print("no graph is up")
        return
    end = time.monotonic()
    if not standing.silent():
        os.kill(pid, signal.SIGTERM)
        end += standing.END_S
    while standing.daemon() is not None:
        if time.monotonic() > end:
            standing.kill(pid)
            console.print("the graph did not end by itself and was killed")
            return
        time.sleep(_TICK_S)
    console.print("the graph has ended")


def show() -> int:
    """Print what is up; returns the exit status."""
    found = standing.find()
    if (pid := standing.daemon()) is not None and standing.silent():
        raise SpcaError(standing.hanging(pid))
    if found is None:
        notices().print("no graph is up; `spca up` starts one")
        return EXIT_NOT_SOLVED
    console = results()
    console.print(_headline(found))
    table = Table("nodes", "state", "pid", "restarts", box=None)
    for node in found.nodes:
        table.add_row(node.name.replace("+", " "), node.state, str(node.pid), str(node.restarts))
    console.print(table)
    if found.fault:
        since = time.strftime("%H:%M:%S", time.localtime(found.fault_at))
        console.print(f"last fault, {since}: {found.fault}")
    left = "while a run is under way"
    if found.idle_until is not None:
        left = f"for {max(found.idle_until - time.time(), 0.0) / 60:.0f} more minutes without a run"
    console.print(f"daemon {found.pid} · stays up {left} · logs {found.logs}")
    console.print(
        f"for ros2 commands: export ROS_DOMAIN_ID={found.domain} ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
        highlight=False,
    )
    return EXIT_SUCCESS if found.ready else EXIT_NOT_SOLVED


def _headline(found: Standing) -> str:
    state = "ready" if found.ready else "not ready"
    of = ", ".join(f"{name} {value}" for name, value in found.parameters.items())
    return f"{found.sim} with the {found.arm} arm, {of}, ROS domain {found.domain}: {state}"


def _terminal() -> str:
    for stream in (0, 1, 2):
        if os.isatty(stream):
            return os.ttyname(stream)
    return ""

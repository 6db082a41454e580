"""`spca mcp`."""

from __future__ import annotations

import re
import secrets
import socket
from typing import Annotated, Any

import typer

from spca.commands import LEVELS, Command
from spca.commands.options import takes

_app = typer.Typer()
MCP = Command(lambda app: app.add_typer(_app))


@_app.command(
    rich_help_panel=LEVELS, epilog="Examples:  spca mcp · spca mcp --http --approve --allow touch,pick_up"
)
@takes("world", "preset", "seed", "robot", "rate")
def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP here instead of stdio.")] = False,
    port: Annotated[int | None, typer.Option(help="HTTP, at this port; else 8723.")] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Ask the client's user before motion.")] = False,
    allow: Annotated[str, typer.Option(help="Actions that plans may contain, with commas; else all.")] = "",
    *,
    wanted: dict[str, Any],
) -> None:
    """Offer a table to language models over the Model Context Protocol; the HTTP address holds a key."""
    from spca.console import as_typed
    from spca.kits import kits
    from spca_core.arms import load_arm
    from spca_core.errors import InputError, did_you_mean

    if wanted["robot"]:
        load_arm(wanted["robot"])  # a wrong one is said now, not when the first tool is called
    try:
        from spca_extras.mcp_server import TableServer
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        hint = as_typed("pip install 'mcp<2'")
        raise InputError("the package `mcp` is not installed", hint=hint) from error
    allowed = [*filter(None, map(str.strip, allow.split(",")))]
    known = re.findall(r"\(:action ([\w-]+)", kits()[0].domain())
    for wrong in sorted({*allowed} - {*known}):
        raise InputError(f"no action '{wrong}'", where="--allow", hint=did_you_mean(wrong, known, 3, 0.1))
    path = f"/{secrets.token_urlsafe(16)}/mcp"  # a page of any site may ask this machine: who was told it may
    http, port = http or bool(port), port or 8723
    server = TableServer(wanted, approve, tuple(allowed), port, path)
    if http:
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except (OSError, OverflowError) as error:  # uvicorn would end the process, with status 3
            raise InputError(f"cannot serve at port {port}", where="--port", hint=str(error)) from error
        print(f"http://127.0.0.1:{port}{path}", flush=True)
    server.run("streamable-http" if http else "stdio")

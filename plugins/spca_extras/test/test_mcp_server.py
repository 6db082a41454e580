"""The server of the Model Context Protocol, asked by the protocol's own client."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import anyio
import httpx
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from spca_testing.command import spca as command

pytestmark = pytest.mark.slow


@contextlib.asynccontextmanager
async def serving(over: str, *options: str) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of the protocol's own client to `spca mcp`, over stdio or over HTTP on this machine."""
    args, environment = ["-m", "spca", "mcp", *options], {**os.environ, "SPCA_ROOT": ""}
    if over == "stdio":
        async with stdio_client(
            StdioServerParameters(command=sys.executable, args=args, env=environment)
        ) as ends:
            yield ends
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, *args, "--port", str(port)]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert server.poll() is None, "the server has ended"
            await anyio.sleep(0.1)
        for path, host, status in (("/mcp", "", 404), (address.partition(str(port))[2], "evil.example", 421)):
            headers = {"Host": host} if host else {}
            url = f"http://127.0.0.1:{port}{path}"
            refused = httpx.post(url, json={}, headers={"Accept": "application/json", **headers})
            assert refused.status_code == status, (path, host, refused.text)
        heads = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        deep, far = b"[" * 100_000, b'{"jsonrpc": "2.0", "method": "x", "id": ' + b"9" * 5000 + b"}"
        for body in (deep, far, b"\xff{}", b"", b"[]"):
            refused = httpx.post(address, content=body, headers=heads)
            assert refused.status_code == 400 and refused.text.count("\n") == 0, (body[:9], refused.text)
        refused = httpx.post(address, content=b" " * 1_000_001, headers=heads)
        assert refused.status_code == 413 and refused.text == "a message has at most 1000000 bytes"
        async with streamablehttp_client(address, timeout=200) as (read, write, _):
            yield read, write
    finally:
        server.terminate()
        server.wait()


def test_an_unknown_action_and_a_port_that_cannot_be_had_are_said():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for option, value, words in (
            ("--allow", "pick_upp", "did you mean 'pick_up'"),
            ("--port", port, f"cannot serve at port {port}"),
        ):
            said = command("mcp", option, value)
            assert said.returncode == 2 and words in said.stderr and not said.stdout


@pytest.mark.parametrize(("approve", "over"), [(True, "stdio"), (False, "http")])
def test_a_client_of_the_context_protocol_moves_what_its_user_approves(approve: bool, over: str):
    asked: list[str] = []

    async def answer(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": approve})

    async def talk() -> None:
        async with (
            serving(over, "--approve", "--allow", "pick_up,place_on") as (read, write),
            ClientSession(read, write, elicitation_callback=answer) as client,
        ):
            await client.initialize()
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {"look", "plan", "rehearse", "run_plan", "do", "act", "stop", "read_run"}

            async def call(tool: str, **arguments: object) -> types.CallToolResult:
                return await client.call_tool(tool, arguments)

            async def told(tool: str, **arguments: object) -> Any:
                return json.loads((await call(tool, **arguments)).content[0].text)

            seen = await call("look")
            assert {part.type for part in seen.content} == {"text", "image"}, seen.content
            planned = await told("plan", sentence="put the red cube on the blue plate")
            assert planned["goal"] == "the red cube on the blue plate" and len(planned["steps"]) == 2
            if approve:
                tried = await told("rehearse", plan_id=planned["plan_id"])
                assert tried["status"] == "accepted"
            done = await told("run_plan", plan_id=planned["plan_id"])
            assert done["outcome"] == ("success" if approve else "cancelled"), done
            assert (
                "the red cube on the blue plate" in asked[0] and "place_on(cube_red, plate_blue)" in asked[0]
            )
            assert "<html" in (await client.read_resource("spca://report")).contents[0].text
            events = (await told("read_run"))["events"]
            assert "question: the red cube on the blue plate" in events
            forbidden = await told("do", sentence="touch the green cube")
            assert forbidden["outcome"] == "cancelled" and len(asked) == 1
            why = "not allowed: touch (--allow pick_up,place_on); nothing was moved"
            assert forbidden["reason"] == why
            assert not any("question" in line for line in (await told("read_run"))["events"])
            refused = await call("act", action="pick_up", args=["cube_pink", "table"])
            assert refused.isError and "no solid is called 'cube_pink'" in refused.content[0].text

    anyio.run(talk)


def test_what_was_asked_for_before_a_stop_moves_nothing_and_giving_up_what_waits_stops_nothing():
    """The first call lays the table, which takes seconds: there is no run yet that could be ended."""

    async def talk() -> None:
        async with serving("stdio") as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            said: dict[str, types.CallToolResult] = {}

            async def do(sentence: str) -> None:
                with contextlib.suppress(McpError):  # of what is given up
                    said[sentence] = await client.call_tool("do", {"sentence": sentence})

            async with anyio.create_task_group() as asking:
                for sentence in ("touch the red cube", "touch the blue cube"):
                    asking.start_soon(do, sentence)
                await anyio.sleep(0.3)
                await client.call_tool("stop", {})
            assert [(told.isError, "stopped" in told.content[0].text) for told in said.values()] == 2 * [
                (True, True)
            ]
            async with anyio.create_task_group() as asking:
                asking.start_soon(do, "touch the red cube")
                await anyio.sleep(0.1)
                given_up = types.CancelledNotificationParams(requestId=client._request_id)
                asking.start_soon(do, "touch the blue cube")
                await anyio.sleep(0.1)
                told = types.CancelledNotification(method="notifications/cancelled", params=given_up)
                await client.send_notification(types.ClientNotification(told))
            assert json.loads(said["touch the red cube"].content[0].text)["outcome"] == "carried out"

    anyio.run(talk)

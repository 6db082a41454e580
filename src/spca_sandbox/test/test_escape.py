"""Attempts to break out. The attackers have Python's real modules, for the boundary is the kernel's.

Each attack must be contained, the world stopped when the worker had to go, and the host fit for the next run.
"""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

import pytest
import yaml

from spca_sandbox.host import SkillHost
from spca_sandbox.limits import Limits
from spca_sandbox.process import RunOutcome
from spca_testing.processes import outliving
from spca_testing.sandbox import API, World

LIMITS = Limits(worker_s=4.0, calls=500, log_lines=50)
ATTACKS = yaml.safe_load(Path(__file__).with_name("attacks.yaml").read_text())
SECRET = "sk-not-for-skills-1234"
HARMLESS = "os.getpid()"

ARMED = """
real = CtxError.__init__.__globals__["__builtins__"]["__import__"]
os, sys, ctypes, struct = real("os"), real("sys"), real("ctypes"), real("struct")
libc = ctypes.CDLL(None, use_errno=True)

def frame(body):
    return struct.pack(">I", len(body)) + body

def honest(ctx):
    return ctx.step(4)

def attack(ctx, path):
"""


@pytest.fixture(scope="module")
def host() -> Iterator[SkillHost]:
    """One for all, for after each attack it has to be fit for the next run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPCA_TEST_KEY", SECRET)
        with SkillHost(API, LIMITS) as it:
            yield it


@pytest.fixture(scope="module")
def hasty() -> Iterator[SkillHost]:
    """For attacks that end by the clock only."""
    with SkillHost(API, LIMITS.model_copy(update={"worker_s": 0.5})) as it:
        yield it


def attack(
    host: SkillHost, body: str, path: str = "", world: World | None = None, ends: bool = False
) -> RunOutcome:
    """What comes of an attack; where it ends its worker, that is awaited."""
    loaded = host.load(ARMED + indent(dedent(body), "    "))
    assert isinstance(loaded, dict), loaded
    worker = host.worker.pid
    outcome = host.run("attack", (path,), world or World(), deadline_s=50.0)
    assert outcome.value != "escaped"
    assert not ends or not outliving([worker])
    again = host.run("honest", (), World())
    assert (again.status, again.value) == ("done", 40), again
    return outcome


def kind(outcome: RunOutcome) -> str:
    assert outcome.status == "failed", outcome
    return outcome.failure.kind


def test_a_dunder_walk_finds_a_shell_but_cannot_start_it(host: SkillHost, tmp_path: Path) -> None:
    path = tmp_path / "owned"
    outcome = attack(
        host,
        """
        for c in ().__class__.__mro__[-1].__subclasses__():
            if c.__name__ == "_wrap_close":
                if c.__init__.__globals__["system"]("touch " + path) == 0:
                    return "escaped"
        return "held"
        """,
        str(path),
    )
    assert outcome.value == "held"
    assert not path.exists()


def test_format_strings_find_no_secret(host: SkillHost) -> None:
    outcome = attack(
        host,
        """
        error = CtxError("x")
        seen = "{0.__init__.__globals__}".format(error) + "{0.environ}".format(os) + "{0.modules}".format(sys)
        return seen
        """,
    )
    assert outcome.status == "done"
    assert len(outcome.value) > 1000
    assert SECRET not in outcome.value
    assert "SPCA" not in outcome.value


@pytest.mark.parametrize("group", ATTACKS["refused"])
def test_what_the_kernel_refuses(host: SkillHost, tmp_path: Path, group: str) -> None:
    """A harmless call at the end of each group shows that all were tried."""
    told = "return done"
    bodies = [body.replace("HOST", str(os.getpid())) for body in ATTACKS["refused"][group]]
    for body in reversed([*bodies, HARMLESS]):
        told = f"try:\n    {body}\n    done.append({body!r})\nexcept Exception:\n    pass\n{told}"
    assert attack(host, f"done = []\n{told}", str(tmp_path / "made")).value == [HARMLESS]
    assert list(tmp_path.iterdir()) == []


def test_system_calls_by_number(host: SkillHost) -> None:
    numbers = {
        name: both[os.uname().machine == "aarch64"] for name, both in ATTACKS["forbidden calls"].items()
    }
    body = f"""
        def called(number):
            return [libc.syscall(number, 1, 1, 0, 0, 0, 0), ctypes.get_errno()]
        return {{name: called(number) for name, number in {numbers}.items()}}
    """
    assert attack(host, body).value == {name: [-1, 1] for name in numbers}, "EPERM, from the filter"


def test_no_memory_can_be_made_executable(host: SkillHost) -> None:
    assert kind(attack(host, "mmap = libc.mmap\nmmap.restype = ctypes.c_long\n"
                             "a = mmap(None, 4096, 7, 34, -1, 0)\n"
                             "if a == -1: raise PermissionError\nreturn 'escaped'")) == "refused"  # fmt: skip


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the x32 ABI is one of x86_64")
def test_a_foreign_abi_kills(host: SkillHost) -> None:
    outcome = attack(host, "libc.syscall(0x40000000 | 41, 2, 1, 0)\nreturn 'escaped'")
    assert kind(outcome) == "killed"
    assert "SIGSYS" in outcome.failure.message


def test_no_connection_reaches_a_listening_socket(host: SkillHost) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        address = int.from_bytes(socket.inet_aton("127.0.0.1"), "little")
        outcome = attack(host, f"""
            fd = libc.socket(2, 1, 0)
            address = struct.pack("=HHI8x", 2, {socket.htons(port)}, {address})
            return "held" if libc.connect(fd if fd >= 0 else 0, address, 16) < 0 else "escaped"
        """)  # fmt: skip
        assert outcome.value == "held"
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize("body", ATTACKS["memory bombs"])
def test_memory_bombs(host: SkillHost, body: str) -> None:
    outcome = attack(host, body)
    assert kind(outcome) in ("error", "killed", "timeout")


def caught(body: str, what: str = "BaseException") -> str:
    """Again and again, whatever is raised."""
    return f"while True:\n    try:\n        {body}\n    except {what}:\n        pass"


@pytest.mark.parametrize(("body", "ends"), ATTACKS["without end"])
def test_what_has_no_end_is_ended(hasty: SkillHost, body: str, ends: str) -> None:
    world = World()
    assert kind(attack(hasty, body, world=world)) in ends.split()
    assert world.stops or "while" not in body or "MemoryError" in body


@pytest.mark.parametrize(("call", "most"), [('ctx.locate("x")', 500), ("ctx.wait(1)", 51)])
def test_calls_without_end_are_bounded_by_their_number_and_the_deadline(
    host: SkillHost, call: str, most: int
) -> None:
    world = World()
    assert kind(attack(host, caught(call), world=world)) == "timeout"
    assert world.stops and world.clock <= 51
    assert len(world.calls) == most if "locate" in call else len(world.calls) <= most


@pytest.mark.parametrize(("body", "ends"), ATTACKS["ways to die"])
def test_ways_to_die(host: SkillHost, body: str, ends: str) -> None:
    outcome = attack(host, body)
    assert kind(outcome) in (("killed", "error", "timeout") if ends == "any" else (ends,))


@pytest.mark.parametrize("data", ATTACKS["forged"])
def test_forged_messages_kill_the_worker_and_reach_nothing(host: SkillHost, data: str) -> None:
    world = World()
    outcome = attack(host, f"os.write(1, {data})\nwhile True: pass", world=world)
    assert kind(outcome) == "killed"
    assert world.calls == []
    assert world.stops


def test_a_forged_result_is_no_more_than_a_result(host: SkillHost) -> None:
    """A skill can claim any result for itself; that is why the referee judges instead."""
    body = """os.write(1, frame(b'{"op": "done", "value": "fine"}'))\nos._exit(0)"""
    outcome = attack(host, body, ends=True)
    assert (outcome.status, outcome.value) == ("done", "fine")


def test_forged_logs_stay_bounded(host: SkillHost) -> None:
    body = """
    for n in range(5000):
        os.write(1, frame(b'{"op": "log", "line": "' + b"x" * 1000 + b'"}'))
    os.write(1, frame(b'{"op": "log", "line": {"a": [1]}}'))
    """
    outcome = attack(host, body)
    assert len(outcome.log) == 50
    assert max(map(len, outcome.log)) <= 500


def test_log_floods_and_huge_results(host: SkillHost) -> None:
    outcome = attack(host, "for n in range(3000): print('y' * 10000)\nreturn 'x' * (1 << 22)")
    assert kind(outcome) == "error"
    assert "too much data" in outcome.failure.message
    assert len(outcome.log) == 50
    assert {len(line) for line in outcome.log} == {500}


def test_huge_and_hostile_exceptions(host: SkillHost) -> None:
    outcome = attack(host, "raise ValueError('x' * (1 << 26))")
    assert len(outcome.failure.message) <= 600
    body = """
    class Sly(Exception):
        def __str__(self):
            raise Sly
    raise Sly
    """
    assert kind(attack(host, body)) == "error"


def test_messages_cannot_drive_the_terminal(host: SkillHost) -> None:
    outcome = attack(host, r"raise CtxError('\x1b[2J', '\x1b]0;owned\x07\r\n' + chr(0x202e))")
    assert (outcome.failure.kind + outcome.failure.message).isprintable()


def test_a_worker_that_does_not_listen(hasty: SkillHost) -> None:
    """A forged early end, then deaf: the next run is in another worker."""
    loaded = hasty.load(
        ARMED + '    os.write(1, frame(b\'{"op": "done", "value": 1}\'))\n    while True: pass'
    )
    assert isinstance(loaded, dict)
    assert hasty.run("attack", ("",), World()).status == "done"
    assert hasty.run("honest", (), World()).value == 40

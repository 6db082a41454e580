"""Child processes end with all their descendants, failures are explained, services restart."""

import itertools
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from spca_core.errors import Interrupted
from spca_core.processes.child import PIPE, Child, last_words, python_environment
from spca_core.processes.service import Service, ServiceDied, ServiceFailed, ServiceTimeout
from spca_core.processes.wire import limit
from spca_core.run_folder import scratch
from spca_testing.processes import outliving, python

SERVICE = """
import os, sys, time
from spca_core.processes.wire import wire_of_service
wire = wire_of_service(1 << 20)
setup = wire.receive()
print("hello from", setup["name"], flush=True)
if setup["name"] == "lame":
    wire.send({"op": "failed", "message": "no legs"})
if setup["name"] == "hung":
    with open(__file__ + ".hung", "w") as told:
        print(os.getpid(), file=told)
    time.sleep(600)
wire.send({"op": "ready"})
while True:
    question = wire.receive()
    if question["op"] == "die":
        print("last words", flush=True)
        os.abort()
    if question["op"] == "sleep":
        time.sleep(question["nap"])
    answer = {"op": "done", "value": os.getpid()}
    if question["op"] == "fail":
        answer = {"op": "failed", "message": "cannot"}
    wire.send({**answer, "id": question["id"]})
"""


@pytest.fixture
def make(tmp_path: Path, request: pytest.FixtureRequest):
    (tmp_path / "served.py").write_text(SERVICE)

    def made(name: str = "joe") -> Service:
        path = os.pathsep.join([str(tmp_path), python_environment()["PYTHONPATH"]])
        environment = python_environment(PYTHONPATH=path)
        service = Service("served", {"name": name}, env=environment, log=tmp_path / "log", start_s=30.0)
        request.addfinalizer(service.close)
        return service

    return made


def test_a_service_that_dies_is_started_again_for_the_next_question(make, tmp_path: Path) -> None:
    service = make()
    first = service.ask("pid", 50.0)
    with pytest.raises(ServiceDied, match="SIGABRT during 'die': last words"):
        service.ask("die", 50.0)
    assert service.ask("pid", 50.0) != first
    assert service.starts == 2
    assert (tmp_path / "log").read_text().count("hello from joe") == 2  # what it prints is kept
    with pytest.raises(ServiceFailed, match="cannot"):
        service.ask("fail", 50.0)
    assert service.starts == 2


def test_a_service_that_hangs_is_ended_and_one_that_is_left_goes_on(make) -> None:
    service = make()
    pid = service.ask("pid", 50.0)
    polls = itertools.count()
    with pytest.raises(Interrupted):
        service.ask("sleep", 50.0, lambda: next(polls) > 1, nap=0.6)
    assert service.ask("pid", 50.0) == pid  # the answer to the question that was left does not count
    with pytest.raises(ServiceTimeout, match="no answer to 'sleep' in 0 s"):
        service.ask("sleep", 0.2, nap=20.0)
    assert not outliving([pid]) and not service.alive


def test_a_service_that_somebody_has_stopped_is_lost_at_once(make) -> None:
    service = make()
    service.start()
    os.kill(service.pid, signal.SIGSTOP)
    with pytest.raises(ServiceDied, match="was stopped by SIGSTOP during 'pid'"):
        service.ask("pid", 50.0)
    assert service.ask("pid", 50.0) and service.starts == 2


def test_a_service_that_hangs_at_its_start_is_started_once_more(make, tmp_path: Path) -> None:
    service, pipe = make("hung"), tmp_path / "served.py.hung"
    os.mkfifo(pipe)
    first = service.begin()
    assert int(pipe.read_text()) == first.pid
    (tmp_path / "served.py").write_text(SERVICE.replace('== "hung"', '== ""'))
    first._deadline = time.monotonic()
    assert service.start() is not first and service.starts == 2
    assert service.ask("pid", 50.0) == service.pid


def test_a_service_that_cannot_start_says_why_and_a_closed_one_stays_closed(make) -> None:
    with pytest.raises(ServiceFailed, match="no legs"):
        make("lame").start()
    service, asked = make(), threading.Event()
    service.start()

    def sleep() -> None:
        with pytest.raises(ServiceDied):
            service.ask("sleep", 600.0, lambda: bool(asked.set()), nap=600.0)

    waiting = threading.Thread(target=sleep)
    waiting.start()
    assert asked.wait(60.0)
    service.close()
    waiting.join(60.0)
    assert not waiting.is_alive()
    with pytest.raises(ServiceDied, match="closed"):
        service.ask("pid", 1.0)


def test_a_child_is_ended_with_what_it_has_started_and_says_how_it_ended(tmp_path: Path) -> None:
    program = "import subprocess as s, time; print(s.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    child = Child([sys.executable, "-c", program], env=os.environ, stdout=PIPE)
    grandchild = int(child.stdout.readline())
    assert child.end() == ""  # not by itself
    assert not outliving([grandchild]) and not child.alive
    log = tmp_path / "log"
    child = Child([sys.executable, "-c", "print('bye\\n'); raise SystemExit(3)"], env=os.environ, stdout=log)
    assert child.wait() == 3 and child.end() == "exited with status 3"
    assert (last_words(log), last_words(tmp_path / "none")) == ("bye", "")


def test_a_limit_stays_within_the_user_s() -> None:
    """Without the right to raise it, asking for more is an error."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (500, 500))
        if os.getuid() == 0:
            os.setresuid(65534, 65534, 65534)
        try:
            limit(resource.RLIMIT_CPU, 1000)
            limit(resource.RLIMIT_CPU, 400)
            os._exit(0 if resource.getrlimit(resource.RLIMIT_CPU) == (400, 400) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_what_a_killed_process_has_left_is_cleared_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used, left, new = scratch("it"), tmp_path / "spca-it-left", tmp_path / "spca-it-new"
    older = tmp_path / "spca_it_running"  # of another revision, which locks nothing
    new.mkdir()
    older.mkdir()
    (left / "deep").mkdir(parents=True)
    for folder in (Path(used.name), left, older):
        os.utime(folder, (0, 0))
    with scratch("it") as folder:
        assert {*tmp_path.iterdir()} == {Path(used.name), new, older, Path(folder)}


def test_a_program_that_is_stopped_while_it_loads_ends_quietly(tmp_path: Path) -> None:
    """Its `main` is not reached, and a launch does not show the whole command of a process that has died."""
    text = f"import os\nos.kill(os.getpid(), {signal.SIGINT:d})\ndef main():\n    print('runs')\n"
    (tmp_path / "loading.py").write_text(text)
    code = "from spca_core.processes import started; started('loading')"
    environment = python_environment(PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    done = python("-c", code, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

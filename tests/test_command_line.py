"""The command line as a user meets it: exit statuses, one clear line for bad input, resumable runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from shutil import rmtree

import pytest
import yaml

from spca.console import Progress, show_table
from spca.journal import Event
from spca.supervisor import Supervisor
from spca_core import extensions
from spca_core.paths import WORLDS
from spca_testing.command import interrupted, spca

LAUNCHER = Path(__file__).parents[1] / "bin" / "spca"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["run", "stak_01"], "did you mean 'stack_01'"),
        (["sim", "--veiw"], "did you mean '--view'?"),
        (["run", "stack"], "'stack' is a group of levels"),
        (["run", "nowhere.yaml"], "no such file (nowhere.yaml)"),
        (["run", "stack_01", "--preset", "shufled"], "did you mean 'shuffled'"),
        (["run", "stack_01", "--out", str(WORLDS)], "occupied"),
        (["do", "put " * 20_000], "at most 1000 characters"),
        (["run", "touch_02", "--llm", "\udcff"], "UTF-8"),
        (["run", "touch_02", "--out", "x" * 300], "cannot write here"),
        (["run", "stack_01", "--rate", "-1"], "--rate"),
        (["resume", "nowhere"], "not a run folder"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_2(args, expected):
    done = spca(*args)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (f"PYTHONOPTIMIZE=2 MUJOCO_GL=nonsense {LAUNCHER}", "<&- >&- 2>&-", 0),
        (f"set -o pipefail; {LAUNCHER}", "2>&1 | true", 0),
        (f"mkdir gone; cd gone; rmdir ../gone; {LAUNCHER}", "", 2),
    ],
)
def test_what_the_caller_has_closed_set_or_removed_is_no_fault(
    tmp_path: Path, before: str, after: str, status: int
) -> None:
    line = f"{before} do 'touch the red cube' --out {tmp_path}/run {after}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert status or (tmp_path / "run" / "report.html").exists()


@pytest.mark.ros
@pytest.mark.parametrize(("variable", "domain"), [("SPCA_DOMAIN_ID", "nan"), ("ROS_DOMAIN_ID", "233")])
def test_a_domain_that_is_none_is_said(variable, domain, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, domain)
    done = spca("run", "touch_02", "--ros", "--no-video", "--out", str(tmp_path / "run"))
    assert done.returncode == 2 and f"no ROS domain: '{domain}' ({variable})" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("part", "changes", "status", "said"),
    [
        ("robot", {"base": {"position": [5.0, 0.0, 0.4], "yaw": 0.0}}, 1, "looking failed, limit"),
        ("objects", {"mass": 1e-12}, 2, "cannot be simulated"),
        ("camera", {"width": 20_000}, 2, "camera.width"),
    ],
)
def test_a_world_that_cannot_be_is_said(part, changes, status, said, tmp_path):
    world = yaml.safe_load((WORLDS / "tabletop.yaml").read_text())
    (world[part][0] if part == "objects" else world[part]).update(changes)
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump(world))
    options = ("--world", str(tmp_path / "odd.yaml"), "--no-video", "--out", str(tmp_path / "run"))
    done = spca("run", "touch_02", *options)
    assert done.returncode == status and said in done.stdout + done.stderr, done.stderr


def test_a_folder_that_is_removed_in_the_middle_of_its_run_is_said(tmp_path, monkeypatch):
    def removed(self, state):
        rmtree(tmp_path / "run")
        return acted(self, state)

    acted = Supervisor._act
    monkeypatch.setattr(Supervisor, "_act", removed)
    done = spca("run", "touch_02", "--no-video", "--out", str(tmp_path / "run"))
    assert (done.returncode, "has been removed" in done.stderr) == (2, True), done.stderr


def test_a_run_leaves_report_video_log_and_verdict(tmp_path):
    folder = tmp_path / "run"
    done = spca("run", "touch_02", "--out", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((folder / "result.json").read_text())
    assert result["outcome"] == "success"
    page = (folder / "report.html").read_text()
    for part in ("cube_blue", "<video", "data:image/jpeg;base64", "touch(cube_blue)"):
        assert part in page, part
    assert spca("mcap", str(folder)).stdout.strip() == str(folder / "run.mcap")
    from mcap.reader import make_reader

    with (folder / "run.mcap").open("rb") as stream:
        topics = {c.topic for c in make_reader(stream).get_summary().channels.values()}
    assert {"/clock", "/joint_states", "/tf", "/contacts", "/verdict", "/camera/detections"} <= topics


@pytest.mark.slow
@pytest.mark.ros
def test_modules_of_the_working_folder_are_not_executed(tmp_path):
    """Of no process of a run: neither the command itself, nor the solver, the nodes or the sandbox."""
    (theirs := tmp_path / "theirs").mkdir()
    for name in {*sys.stdlib_module_names, "spca", "spca_core", "spca_ros", "numpy", "rclpy"}:
        (theirs / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')")
    command = [LAUNCHER, "run", "touch_02", "--ros", "--no-video", "--out", tmp_path / "run"]
    done = subprocess.run(command, cwd=theirs, capture_output=True, text=True, check=False)
    executed = tmp_path / "executed"
    assert (executed.read_text() if executed.exists() else "") == ""
    assert done.returncode == 0, done.stderr


APPEND, WRITE = "spca_core.run_folder:RunFolder.append", "spca_core.run_folder:RunFolder.write"
CHILD = "spca_core.processes.child:Child.__init__"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("called", "text", "told"),
    [
        (CHILD, "spca_planner", ""),
        (WRITE, "'run.json'", "spca resume "),
        (APPEND, "kind='step'", "spca resume "),
        ("spca.report.write_report", "", "spca report "),
    ],
)
def test_an_interrupt_is_one_says_how_to_go_on_and_leaves_no_process(tmp_path, called, text, told):
    """Before a run, at its start, in it and after it; benchmarks/faults.py has a hundred points in time."""
    folder = tmp_path / "run"
    done, left = interrupted(called, text, "run", "stack_01", "--no-video", "--out", str(folder))
    assert done.returncode == 130, done.stdout + done.stderr
    assert done.stderr.strip().endswith(f"{told}{folder}" if told else "") and "Traceback" not in done.stderr
    assert folder.exists() is (called != CHILD) and not left and not (folder / "crash.txt").exists()
    if told == "spca resume ":
        assert not (folder / "report.html").exists(), "on a busy machine, it takes half of the stop"
        again = spca("resume", str(folder))
        assert again.returncode == 0, again.stdout + again.stderr


class Leaving:
    """A module that ends its process, as scripts do."""

    def __getattr__(self, name):
        raise SystemExit("ended by a plugin")


def test_a_plugin_with_a_fault_says_so_and_hides_nothing_else(monkeypatch):
    monkeypatch.setitem(sys.modules, "ending", Leaving())
    more = (
        EntryPoint("broken", "nowhere:BENCH", "spca.benches"),
        EntryPoint("ending", "ending:BENCH", "spca.benches"),
    )
    declared = extensions._declared
    monkeypatch.setattr(extensions, "_declared", lambda g: (*declared(g), *(e for e in more if e.group == g)))
    shown = spca("bench", "--help").stdout
    assert "levels" in shown and "Broken: cannot load spca.benches 'broken'" in shown
    for words, fault in (
        (["bench", "broken"], "No module named 'nowhere'"),
        (["bench", "ending"], "ended by a plugin"),
    ):
        refused = spca(*words)
        assert refused.returncode == 2 and fault in refused.stderr
    assert "stack_01" in spca("levels", "stack").stdout


def test_no_text_steers_the_terminal(tmp_path, capsys):
    """Of levels, models and files: a title in a sequence of escape, say."""
    hostile = "stack\x1b]0;mine\x07 \x9b2J [bold]it[/bold]\u202e"
    show_table(("name", "what"), [(hostile, hostile)])
    with Progress() as progress:
        progress(Event(kind="run_started", wall=0.0, sim=0.0, text=hostile))
        progress(Event(kind="draft", wall=0.0, sim=0.0, stage="plan", text=hostile))
    said = capsys.readouterr()
    failed = spca("run", str(tmp_path / f"{hostile}.yaml".replace("/", "")))
    for text in (said.out, said.err, failed.stdout, failed.stderr):
        assert not {*"\x1b\x07\x9b\u202e"} & {*text}
    assert "stack?]0;mine? ?2J [bold]it[/bold]?" in said.out and "stack?]0;mine?" in said.err
    assert failed.returncode == 2


def test_levels_are_filtered_and_listed_as_json():
    chosen = json.loads(spca("levels", "--json", "stack", "touch_0*").stdout)
    assert {level["group"] for level in chosen} == {"stack", "touch"}
    assert chosen[0].keys() >= {"name", "about", "time_limit_s"}


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        pytest.param(
            "try:\n    import loading\n    time.sleep(60)\n",
            ["loaded", "interrupted"],
            id="a compiled module that is interrupted while it loads says ImportError, or ends the process",
        ),
        pytest.param(
            "class Gone:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGINT)\n"
            "try:\n    Gone()\n    time.sleep(60)\n",
            ["interrupted"],
            id="Python ignores what is raised in a destructor, or in a callback of a weak reference",
        ),
    ],
)
def test_an_interrupt_in_an_import_or_a_destructor_comes_a_moment_later(tmp_path, code, printed):
    (tmp_path / "loading.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('loaded', flush=True)\n"
    )
    handled = (
        "import os, signal, time\nfrom spca.interrupt import interrupt_between_imports as handle\nhandle()\n"
    )
    command = [sys.executable, "-c", f"{handled}{code}except KeyboardInterrupt:\n    print('interrupted')\n"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (printed, "")


def test_an_interrupt_while_python_starts_comes_when_it_has_started(tmp_path):
    """Python itself would end with status 1; and nothing that is started later holds interrupts off."""
    look = "import spca.interrupt as i, subprocess as s; i.interrupt_between_imports(); "
    look += "s.run(['grep', 'SigBlk', '/proc/self/status'], check=True)"
    fake = tmp_path / "python"
    fake.write_text(
        f"#!{sys.executable}\nimport os, signal, sys\n"
        "if sys.argv[3] != 'spca':  # set-up asks how it is started\n"
        "    sys.exit(print('env --block-signal=INT', sys.argv[0]))\n"
        "if sys.argv[4] == 'levels':\n    os.kill(os.getpid(), signal.SIGINT)\n"
        f"else:\n    sys.argv[1:] = ['-c', {look!r}]\n"
        "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
    )
    fake.chmod(0o755)
    there = {**os.environ, "SPCA_PYTHON": str(fake)}
    assert subprocess.run([LAUNCHER, "levels"], env=there, check=False).returncode == 130
    held = subprocess.check_output([LAUNCHER, "mask"], env=there, text=True)
    assert held.split() == ["SigBlk:", "0" * 16]

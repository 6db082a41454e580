"""A run folder survives kills: whole files, torn last lines, no overwriting."""

import os

import pytest

from spca.journal import Event
from spca_core.errors import InputError
from spca_core.run_folder import EVENTS, RunFolder, write_atomically


def test_a_folder_is_of_one_run_and_has_a_plain_name(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "something").write_text("mine")
    with pytest.raises(InputError, match="occupied"):
        RunFolder.create("stack_01", tmp_path / "run")
    assert (tmp_path / "run" / "something").read_text() == "mine"
    a, b = (RunFolder.create("minigrid:MiniGrid-DoorKey-8x8-v0", parent=tmp_path) for _ in range(2))
    assert a.path != b.path, "in one second"
    assert a.path.name.endswith("_minigrid_MiniGrid-DoorKey-8x8-v0")
    again = RunFolder(a.path)
    assert not again.claim()
    del a
    assert again.claim()


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    """Files are for whom the umask says."""
    path, before = tmp_path / "file", os.umask(0o027)
    try:
        write_atomically(path, b"old")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_torn_last_event_is_passed_over(tmp_path):
    folder = RunFolder.create("x", tmp_path / "run")
    event = Event(kind="step", wall=1.0, sim=2.0, text="pick_up(cube_red, table)")
    folder.append(event)
    with (folder.path / EVENTS).open("a") as stream:
        stream.write('{"kind": "st')
    assert list(folder.read_log(Event)) == [event]

"""Boxoban's levels are read, and played by learned rules, without the set itself."""

from pathlib import Path

import pytest

from spca_boxoban.bench import BoxobanBench, LevelTrial, read_levels, read_program
from spca_core.errors import InputError
from spca_core.run_folder import RunFolder
from spca_standins.inductive import true_sokoban
from spca_worldcoder.run import PROGRAM

LEVELS = """; 0
#####
#@$.#
#   #
# $.#
#####

; 1
#####
#$ .#
# @ #
#   #
#####
"""


def test_levels_are_read_and_what_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "000.txt").write_text("; 0\n#?\n##\n")
    with pytest.raises(InputError, match="is no square"):
        read_levels(tmp_path)
    (tmp_path / "000.txt").write_text("; 0\n####\n#*+#\n# ##\n####\n")
    read_levels.cache_clear()
    (level,) = read_levels(tmp_path)
    assert level.boxes == {(1, 1)} and level.targets == {(1, 1), (2, 1)} and level.player == (2, 1)
    assert level.floor == {(1, 1), (2, 1), (1, 2)}
    with pytest.raises(InputError, match="holds no learned rules"):
        read_program(tmp_path)


def test_a_level_is_won_and_one_that_cannot_be_is_not(tmp_path: Path) -> None:
    (tmp_path / "levels" / "hard").mkdir(parents=True)
    (tmp_path / "levels" / "hard" / "000.txt").write_text(LEVELS)
    RunFolder(tmp_path).write(PROGRAM, true_sokoban())
    bench = BoxobanBench(levels=tmp_path / "levels", rules=tmp_path, part="hard")
    assert [t.key for t in bench.trials()] == ["hard/0000", "hard/0001"]
    won, lost = (bench.run_trial(LevelTrial(part="hard", number=n), tmp_path) for n in (0, 1))
    assert won.solved and won.moves >= 5
    assert not lost.solved and lost.moves == 0

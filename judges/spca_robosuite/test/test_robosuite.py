"""robosuite behind the border, where it is installed: the contract of every judge's episodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spca_judges.catalogue import find
from spca_judges.contract import EpisodeContract
from spca_judges.port import Episode
from spca_robosuite.episode import open_episode

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find("robosuite").state != "installed", reason=find("robosuite").state),
]


class TestRobosuite(EpisodeContract):
    @pytest.fixture(scope="class")
    def episode(self) -> Iterator[Episode]:
        found = open_episode("Lift")
        yield found
        found.close()

"""Contract of every `Episode`, as a test class to be subclassed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from spca_judges.port import Episode


class EpisodeContract:
    """Subclass it with a class-scoped fixture `episode` that gives one, and takes it down."""

    @pytest.fixture(autouse=True)
    def begun(self, episode: Episode) -> Iterator[None]:
        """Every test begins with the same episode."""
        episode.reset(3)
        yield

    def test_frames_are_calibrated(self, episode: Episode) -> None:
        """Sizes and types agree, depth is in metres, and the camera's axes are a rotation."""
        frames = episode.look()
        assert frames
        for frame in frames:
            size = frame.intrinsics.height, frame.intrinsics.width
            assert frame.colour.shape == (*size, 3) and frame.colour.dtype == np.uint8
            assert frame.depth.shape == size and frame.depth.dtype == np.float32
            assert 0.1 < float(np.median(frame.depth[frame.depth > 0])) < 10
            assert np.linalg.det(frame.pose.matrix()[:3, :3]) == pytest.approx(1.0, abs=1e-6)

    def test_only_acting_lets_time_pass(self, episode: Episode) -> None:
        """By one period for every call."""
        before = episode.feel()
        episode.look()
        assert episode.feel().stamp == before.stamp
        episode.act(before.positions, before.opening)
        assert episode.feel().stamp - before.stamp == pytest.approx(episode.period, rel=0.2)

    def test_the_arm_goes_where_it_is_sent(self, episode: Episode) -> None:
        """One joint by a tenth of a radian, in one second."""
        goal = np.array(episode.feel().positions)
        goal[0] += 0.1
        for _ in range(round(1.5 / episode.period)):
            episode.act(goal, 1.0)
        assert episode.feel().positions == pytest.approx(goal, abs=0.03)

    def test_the_same_seed_is_the_same_episode(self, episode: Episode) -> None:
        """Pictures and joints are equal after the same actions, and differ for another seed."""

        def begin(seed: int) -> tuple[np.ndarray, np.ndarray]:
            episode.reset(seed)
            for _ in range(3):
                episode.act(episode.feel().positions, 1.0)
            return episode.look()[0].depth, episode.feel().positions

        (first, there), (again, where), (other, _) = begin(5), begin(5), begin(6)
        assert np.array_equal(first, again) and np.array_equal(there, where)
        assert not np.array_equal(first, other)

    def test_nothing_is_solved_by_waiting(self, episode: Episode) -> None:
        """The verdict at the beginning is no success."""
        assert episode.text
        assert episode.success() is False

"""The detector keeps the contract that every detector keeps, and the robot acts on what it sees."""

from __future__ import annotations

from blobs import BlobsDetector

import spca
from spca_testing.contracts.detector_contract import DetectorContract


class TestBlobs(DetectorContract):
    """See `DetectorContract`."""

    make = BlobsDetector


def test_a_level_is_solved(tmp_path) -> None:
    run = spca.run("touch_02", transport="inproc", detector="blobs", video=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason

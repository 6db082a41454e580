"""An `Episode` in a judge's own interpreter: this end starts the process, and ends it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.errors import SpcaError
from spca_core.geometry import Array, Pose
from spca_judges.messages import PROTOCOL, Ended, receive, send
from spca_judges.port import Proprioception


class RemoteEpisode:
    """See `spca_judges.port.Episode`. The process ends when its input does, whatever becomes of this one."""

    def __init__(
        self, python: Path | str, server: Path, arguments: Sequence[str], log: Path | None = None
    ) -> None:
        """Start `server` (a file) with that interpreter. Raises SpcaError if it speaks otherwise or dies."""
        self._name = server.stem
        self._log = log.open("wb") if log else None
        self._process = subprocess.Popen(
            [str(python), str(server), str(Path(__file__).parent), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log or subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this end, which then ends the other
        )
        try:
            hello = self._ask("hello")
            if hello["protocol"] != PROTOCOL:
                raise SpcaError(f"{self._name} speaks protocol {hello['protocol']}, this is {PROTOCOL}")
        except BaseException:
            self.close()
            raise
        self.text, self.period = str(hello["text"]), float(hello["period"])
        self.version = str(hello["version"])

    def reset(self, seed: int) -> None:
        """See `Episode`."""
        self._ask("reset", seed=seed)

    def look(self) -> list[RgbdFrame]:
        """See `Episode`."""
        return [_frame(frame) for frame in self._ask("look")["frames"]]

    def feel(self) -> Proprioception:
        """See `Episode`."""
        return Proprioception(**self._ask("feel")["state"])

    def act(self, joints: Array, opening: float) -> None:
        """See `Episode`."""
        self._ask("act", joints=np.asarray(joints, dtype=float), opening=float(opening))

    def success(self) -> bool:
        """See `Episode`."""
        return bool(self._ask("success")["success"])

    def close(self) -> None:
        """See `Episode`."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._log is not None:
            self._log.close()

    def _ask(self, what: str, **values: Any) -> dict[str, Any]:
        try:
            send(cast(Any, self._process.stdin), {"ask": what, **values})
            answer = receive(cast(Any, self._process.stdout))
        except (Ended, ValueError) as error:
            status = self._process.poll()
            ended = (
                f"it ended with status {status}" if status is not None else str(error) or "its pipe is closed"
            )
            raise SpcaError(f"{self._name} gives no answer to '{what}': {ended}") from error
        if problem := answer.get("error"):
            raise SpcaError(f"{self._name}, {what}: {problem}")
        return answer


def _frame(values: dict[str, Any]) -> RgbdFrame:
    return RgbdFrame(
        colour=values["colour"], depth=values["depth"], intrinsics=CameraIntrinsics(**values["intrinsics"]),
        pose=Pose(**values["pose"]), stamp=float(values["stamp"]),
    )  # fmt: skip

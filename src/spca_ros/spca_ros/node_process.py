"""A node in a process of its own, which ends with this one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from spca_core.errors import EXIT_BAD_INPUT, InputError, Lost
from spca_core.paths import data
from spca_core.processes.child import Child, how_it_ended, last_words, python_command
from spca_core.stopping import Closing
from spca_ros.environment import DIE_WITH_PARENT

CONFIG = data("launch/config", "spca_ros")
"""Folder of the nodes' parameter files; nodes.yaml is for every graph."""
Value = str | int | float | bool
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|^SPCA_LLM", re.IGNORECASE)
_END_S = 4.0  # wall seconds that a process has for its end before it is killed


class NodeProcess(Child, Closing):
    """One node, run by `module`, with its log. Use as a context manager; leaving it leaves no process behind.

    It ends with the thread that has started it, too: that has to be one that stays. It gets no keys of
    language models.
    """

    def __init__(self, module: str, node: str, parameters: Mapping[str, Value], logs: Path) -> None:
        self.node, self.log = node, logs / f"{node}.log"
        logs.mkdir(parents=True, exist_ok=True)
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        file = logs / f"{node}.yaml"
        values = {"use_sim_time": True, **parameters}
        file.write_text(json.dumps({node: {"ros__parameters": values}}, indent=1))  # JSON is YAML
        arguments = (
            "--ros-args",
            *("--params-file", str(CONFIG / "nodes.yaml")),
            *("--params-file", str(file)),
            "--disable-rosout-logs",
            "--disable-external-lib-logs",
        )
        public = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
        super().__init__(
            python_command(module, *arguments),
            env={**public, DIE_WITH_PARENT: "1", "ROS_LOG_DIR": str(logs)},
            stdout=self.log,
            stderr=self.log,
        )

    def check(self) -> None:
        """Raise the reason if the process has ended: its last words, or how it ended."""
        if (status := self.wait(0.0)) is None:
            return
        last = last_words(self.log, self._log_begin) or "it said nothing"
        if status == EXIT_BAD_INPUT:
            raise InputError(last.removeprefix("spca: "))
        raise Lost(f"the node '{self.node}' {how_it_ended(status)}: {last} (its log: {self.log})")

    def close(self) -> None:
        """End the process and wait for it; harmless when called twice."""
        self.terminate()
        self.end(_END_S)

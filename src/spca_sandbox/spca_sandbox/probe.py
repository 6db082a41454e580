"""What sandbox this machine offers."""

from __future__ import annotations

from spca_core.errors import SpcaError
from spca_core.skill import CtxApi
from spca_sandbox.level import SandboxLevel, SandboxReport
from spca_sandbox.limits import Limits
from spca_sandbox.process import WorkerProcess
from spca_sandbox.surface import Surface


def probe() -> SandboxReport:
    """Start a worker as for real code and tell how well it was locked in."""
    try:
        worker = WorkerProcess(Surface(CtxApi(environment="none", methods=())), Limits())
    except OSError as error:
        return SandboxReport(level=SandboxLevel.NONE, features={"process": str(error)})
    try:
        return worker.wait_ready()
    except SpcaError as error:
        return SandboxReport(level=SandboxLevel.NONE, features={"process": str(error)})
    finally:
        worker.end()

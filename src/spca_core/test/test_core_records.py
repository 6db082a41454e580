"""Every record rejects unknown fields and is immutable, by the settings of the base, which none changes."""

import importlib
import pkgutil

import spca_core
from spca_core.geometry import Pose
from spca_core.model import Record
from spca_core.plan import PlanResult
from spca_core.scene import Observation


def subclasses(kind: type[Record]) -> set[type[Record]]:
    return {s for direct in kind.__subclasses__() for s in (direct, *subclasses(direct))}


def test_no_record_knows_other_fields_or_lets_one_be_assigned() -> None:
    modules = {m.name for m in pkgutil.walk_packages(spca_core.__path__, "spca_core.")}
    for name in modules:
        importlib.import_module(name)
    records = {r for r in subclasses(Record) if r.__module__ in modules}
    assert {Pose, Observation, PlanResult} <= records
    assert {(r.model_config["extra"], r.model_config["frozen"]) for r in records} == {("forbid", True)}

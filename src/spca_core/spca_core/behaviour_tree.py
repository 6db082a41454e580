"""A plan as a behaviour tree: BehaviorTree.CPP's XML (format 4), which Groot2 opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from spca_core.plan import Step

TREE = "plan"
_RESERVED = ("name", "ID")  # attributes that BehaviorTree.CPP keeps for itself


def behaviour_tree(steps: Sequence[Step], parameters: Mapping[str, Sequence[str]]) -> str:
    """A sequence of the steps, and a model of each action with its ports.

    `parameters` are the names of each action's parameters; where they are missing, they are numbered.
    """

    def ports(step: Step) -> list[str]:
        names = [f"{name}_" if name in _RESERVED else name for name in parameters.get(step.action, ())]
        return names if len(names) == len(step.args) else [f"arg{i}" for i in range(1, len(step.args) + 1)]

    root = ElementTree.Element("root", BTCPP_format="4", main_tree_to_execute=TREE)
    sequence = ElementTree.SubElement(ElementTree.SubElement(root, "BehaviorTree", ID=TREE), "Sequence")
    model = ElementTree.SubElement(root, "TreeNodesModel")
    known: set[str] = set()
    for step in steps:
        given = dict(zip(ports(step), step.args, strict=True))
        ElementTree.SubElement(sequence, "Action", {"ID": step.action, "name": str(step), **given})
        if step.action not in known:
            known.add(step.action)
            action = ElementTree.SubElement(model, "Action", ID=step.action)
            for name in given:
                ElementTree.SubElement(action, "input_port", name=name)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)

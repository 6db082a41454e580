"""A plan as a behaviour tree that other tools read: XML of BehaviorTree.CPP 4, as Groot2 and Nav2 load it."""

from __future__ import annotations

from xml.etree import ElementTree

from spca_core.plan import Plan
from spca_core.skill import python_name

_RESERVED = ("name", "ID")  # attributes that BehaviorTree.CPP keeps for itself


def behaviour_tree_xml(plan: Plan, name: str = "plan") -> str:
    """The plan's steps as a sequence of actions, and every action's ports.

    An action's ports are the parameters of its PDDL schema, by name, each with its type as the description.
    """
    ports = {schema.name: [(_port(p), kind) for p, kind in schema.parameters] for schema in plan.schemas}
    root = ElementTree.Element("root", BTCPP_format="4", main_tree_to_execute=name)
    sequence = ElementTree.SubElement(
        ElementTree.SubElement(root, "BehaviorTree", ID=name), "Sequence", name=name
    )
    for step in plan.steps:
        given = dict(zip((port for port, _ in ports[step.action]), step.args, strict=True))
        ElementTree.SubElement(sequence, "Action", given, ID=python_name(step.action), name=str(step))
    model = ElementTree.SubElement(root, "TreeNodesModel")
    for action, parameters in ports.items():
        node = ElementTree.SubElement(model, "Action", ID=python_name(action))
        for port, kind in parameters:
            ElementTree.SubElement(node, "input_port", name=port, type="std::string").text = kind
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _port(parameter: str) -> str:
    name = python_name(parameter)
    return f"{name}_" if name in _RESERVED else name

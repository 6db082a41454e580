"""The self-contained URDF: no meshes and no other description package.

Its kinematics and dynamics equal those of the embedded simulator's robot.
"""

from __future__ import annotations

from spca_core.world import World
from spca_description.control import add_control_plugin, add_ros2_control
from spca_description.frames import add_camera_frames, add_fixed_joint, add_origin, base_pose
from spca_description.gazebo import add_link_tags, keep_fixed_joint
from spca_description.links import FLANGE, Joint, Link, Shape, flange_pose, robot_links
from spca_description.names import BASE_LINK, GENERATED
from spca_description.xml import Element, add, document, numbers


def build_urdf(world: World, controllers_file: str = "") -> str:
    """The robot of a world as URDF, standing where the world says.

    With a `controllers_file` (a path on the machine that runs Gazebo) it also carries what Gazebo needs: the
    ros2_control block, contact sensors, friction, and self-collision.
    """
    robot = Element("robot", name=world.robot.model)
    links = robot_links(world)
    add(robot, "link", name="world")
    for link in links:
        _add_link(robot, link)
    add_fixed_joint(robot, f"world_{BASE_LINK}", "world", BASE_LINK, base_pose(world))
    for link in links:
        if link.parent is not None:
            _add_joint(robot, link)
    carrier, pose = flange_pose(world)
    add(robot, "link", name=FLANGE)
    add_fixed_joint(robot, f"{carrier}_{FLANGE}", carrier, FLANGE, pose)
    add_camera_frames(robot, world)
    if controllers_file:
        add_ros2_control(robot, world, GENERATED)
        add_control_plugin(robot, controllers_file)
        for link in links:
            add_link_tags(robot, link.name, [s.friction for s in link.shapes])
            if link.parent is not None and link.joint is None:
                keep_fixed_joint(robot, f"{link.parent}_{link.name}")
    return document(robot, "Generated from the world description by spca_description; do not edit.")


def _add_link(robot: Element, link: Link) -> None:
    element = add(robot, "link", name=link.name)
    inertial = add(element, "inertial")
    add_origin(inertial, link.centre_of_mass)
    add(inertial, "mass", value=link.mass)
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = link.inertia
    add(inertial, "inertia", ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz)
    for i, shape in enumerate(link.shapes):
        for kind in ("visual", "collision"):
            part = add(element, kind)
            add_origin(part, shape.pose)
            _add_geometry(part, shape)
            if kind == "visual":
                material = add(part, "material", name=f"{link.name}_{i}")
                add(material, "color", rgba=numbers((*shape.colour, 1.0)))


def _add_geometry(part: Element, shape: Shape) -> None:
    geometry = add(part, "geometry")
    if shape.kind == "box":
        add(geometry, "box", size=shape.size)
    else:
        add(geometry, "cylinder", radius=shape.size[0], length=shape.size[1])


def _add_joint(robot: Element, link: Link) -> None:
    assert link.parent is not None
    if link.joint is None:
        add_fixed_joint(robot, f"{link.parent}_{link.name}", link.parent, link.name, link.pose)
        return
    hinge: Joint = link.joint
    joint = add(robot, "joint", name=hinge.name, type="revolute")
    add(joint, "parent", link=link.parent)
    add(joint, "child", link=link.name)
    add_origin(joint, link.pose)
    add(joint, "axis", xyz=hinge.axis)
    add(joint, "limit", lower=hinge.lower, upper=hinge.upper, velocity=hinge.velocity, effort=hinge.effort)
    add(joint, "dynamics", damping=hinge.damping, friction=0.0)
    if hinge.mimic is not None:
        add(joint, "mimic", joint=hinge.mimic.joint, multiplier=hinge.mimic.multiplier)

"""What each package imports and what its package.xml declares.

python scripts/manifests.py            says what is imported and not declared
python scripts/manifests.py --write    declares it
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from catkin_pkg.package import Package, parse_package

ROOT = Path(__file__).resolve().parents[1]
WINGS = ("src", "plugins", "research", "judges", "testing", "benchmarks")
PACKAGES = [m.parent for wing in WINGS for m in sorted((ROOT / wing).glob("*/package.xml"))]
FOLDERS = {folder.name: folder for folder in PACKAGES}
PYTHON_PACKAGES = [p for p in PACKAGES if (p / "setup.py").is_file()]

# rosdep's keys for modules that Ubuntu packages.
ROSDEP = {
    "PIL": "python3-pil",
    "cv2": "python3-opencv",
    "hypothesis": "python3-hypothesis",
    "jinja2": "python3-jinja2",
    "lxml": "python3-lxml",
    "markupsafe": "python3-markupsafe",
    "matplotlib": "python3-matplotlib",
    "networkx": "python3-networkx",
    "numpy": "python3-numpy",
    "psutil": "python3-psutil",
    "pydantic": "python3-pydantic",
    "pytest": "python3-pytest",
    "rich": "python3-rich",
    "scipy": "python3-scipy",
    "typer": "python3-typer",
    "yaml": "python3-yaml",
    # ROS packages whose modules have another name
    "moveit": "moveit_py",
    "ros2launch": "ros2launch",
}
# Known to no rosdep key: they come from scripts/requirements/lock.txt.
FROM_PIP = {
    "annotated_types", "nbclient", "nbformat", "importlinter", "tomli", "tomllib", "av", "cattrs", "click",
    "dask", "distributed", "fast_downward", "gymnasium", "glfw", "httpx", "httpx2",
    "pyarrow", "pyparsing", "libcst", "mcap", "mcap_ros2", "minigrid", "anyio", "mcp", "starlette",
    "trimesh", "tornado", "websockets", "mujoco", "ompl", "openai", "ruckig", "stable_baselines3",
    "httpcore2", "torch", "unified_planning",
    "up_fast_downward",
    "up_tamer",
    # optional: the selectors of CoPiC, and a world
    "nle", "peft", "safetensors", "tokenizers", "transformers",
    # judges, in interpreters of their own
    "robosuite",
}  # fmt: skip
BRING_UP, LAUNCH = "spca", ROOT / "launch"
"""The package that installs the launch files, and where they are."""
ROS_MODULES = {
    "action_msgs", "ament_index_python", "builtin_interfaces", "composition_interfaces", "control_msgs",
    "diagnostic_msgs",
    "geometry_msgs", "launch", "launch_ros", "launch_testing", "launch_testing_ros", "lifecycle_msgs",
    "moveit_msgs",
    "rcl_interfaces", "rclpy", "ros_gz_interfaces", "rosgraph_msgs", "rosidl_runtime_py", "sensor_msgs",
    "shape_msgs",
    "std_msgs", "std_srvs", "tf2_msgs", "tf2_ros", "trajectory_msgs", "unique_identifier_msgs",
    "visualization_msgs", "xacro",
}  # fmt: skip
# Imported by name at run time, with a message that names them where they are missing.
BY_NAME = {"ament_index_python", "xacro"}


def imports(folder: Path) -> set[str]:
    """Top-level names of every absolute import below a folder, also those inside functions."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"__future__"}


def started_by(folder: Path) -> set[str]:
    """The ROS packages whose executables the launch files in a folder start: `Node(package="…")`."""
    found: set[str] = set()
    for file in folder.glob("*.launch.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.keyword)
                and node.arg == "package"
                and isinstance(node.value, ast.Constant)
            ):
                found.add(str(node.value.value))
    return found - {BRING_UP}


def needed(modules: set[str], name: str) -> tuple[set[str], set[str]]:
    """The package.xml keys for modules, and the modules without a known key."""
    keys, unknown = set(), set()
    ours = {p.name for p in PACKAGES}
    for module in modules - {name} - FROM_PIP:
        if module in ROSDEP:
            keys.add(ROSDEP[module])
        elif module in ours or module in ROS_MODULES:
            keys.add(module)
        else:
            unknown.add(module)
    return keys, unknown


def declared(package: Package, *kinds: str) -> set[str]:
    """The names that a manifest declares as dependencies of these kinds (`exec`, `test`, `build`)."""
    return {d.name for kind in kinds for d in getattr(package, f"{kind}_depends")}


def lacking(folder: Path) -> tuple[set[str], set[str], set[str]]:
    """What a package's manifest lacks.

    Returns the keys to declare for running, those for testing, and imported modules that no key provides.
    """
    package = parse_package(str(folder / "package.xml"))
    run = declared(package, "exec", "build")
    modules = imports(folder / folder.name)
    if folder.name == BRING_UP:
        modules |= imports(LAUNCH)
    keys, unknown = needed(modules, folder.name)
    if folder.name == BRING_UP:
        keys |= {"ros2launch"} | started_by(LAUNCH)
    tests = folder / "test"
    own = {p.stem for p in tests.rglob("*.py")} | {p.name for p in tests.rglob("*")} | {"test"}
    test_keys, test_unknown = needed(imports(tests) - own, folder.name)
    test_keys -= {key for key in test_keys if folder.name in below(key)}
    return keys - run, test_keys - run - keys - declared(package, "test"), unknown | test_unknown


def below(name: str) -> set[str]:
    """The packages of ours that a package needs to run, directly or not.

    A test may use a package that stands above its own. That is not declared: colcon orders builds by
    `test_depend` too, and would find a circle.
    """
    found: set[str] = set()
    waiting = [name]
    while waiting:
        if (folder := FOLDERS.get(waiting.pop())) is None:
            continue  # not one of ours
        needs = declared(parse_package(str(folder / "package.xml")), "exec", "build") & set(FOLDERS)
        waiting += needs - found
        found |= needs
    return found


def write(folder: Path) -> list[str]:
    """Add what lacks to a package.xml, after the dependencies of the same kind; returns what was added."""
    run, tests, _ = lacking(folder)
    path = folder / "package.xml"
    text = path.read_text()
    for kind, keys in (("exec_depend", run), ("test_depend", tests)):
        lines = "".join(f"  <{kind}>{key}</{kind}>\n" for key in sorted(keys))
        if not lines:
            continue
        end = text.rfind(f"</{kind}>\n")
        at = (
            end + len(f"</{kind}>\n")
            if end >= 0
            else text.index("  <test_depend>" if "<test_depend>" in text else "  <export>")
        )
        text = text[:at] + lines + ("" if end >= 0 else "\n") + text[at:]
    path.write_text(text)
    return sorted(run | tests)


def main() -> int:
    """Say what is undeclared, or declare it; returns the exit status."""
    status = 0
    for folder in PYTHON_PACKAGES:
        added = write(folder) if "--write" in sys.argv else sorted(set().union(*lacking(folder)[:2]))
        unknown = lacking(folder)[2]
        if added or unknown:
            status = int("--write" not in sys.argv or bool(unknown))
            print(f"{folder.name}: {', '.join(added)}" + (f"; unknown: {sorted(unknown)}" if unknown else ""))
    return status


if __name__ == "__main__":
    sys.exit(main())

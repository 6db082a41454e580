"""One distribution of what the packages of src, plugins, research, testing and benchmarks say."""

import os
import re
from distutils.core import run_setup  # setuptools brings it
from pathlib import Path

from setuptools import setup

TOP = Path(__file__).resolve().parent
packages: list[str] = []
folders: dict[str, str] = {}
entries: dict[str, list[str]] = {"console_scripts": ["spca = spca.__main__:main"]}
data: list[tuple[str, list[str]]] = []
PARTS = ("src", "plugins", "research", "testing", "benchmarks")
for script in sorted(path for part in PARTS for path in TOP.glob(f"{part}/*/setup.py")):
    os.chdir(script.parent)
    part = run_setup("setup.py", stop_after="init")
    packages += part.packages or []
    name = part.get_name()
    folders[name] = os.path.relpath(script.parent / name, TOP)
    for group, own in (part.entry_points or {}).items():
        if group != "console_scripts":  # nodes are ROS's to find: `ros2 run` asks colcon's packages
            entries.setdefault(group, []).extend(own)
    for target, files in part.data_files or []:
        data.append((target, [os.path.relpath(file, TOP) for file in map(os.path.abspath, files)]))
os.chdir(TOP)
data.append(
    ("share/spca_interfaces/msg", [str(file) for file in Path("src/spca_interfaces/msg").glob("*.msg")])
)

setup(
    version=re.findall('__version__ = "(.+)"', (TOP / "src/spca/spca/__init__.py").read_text())[0],
    packages=packages,
    package_dir=folders,
    include_package_data=False,  # else setuptools takes folders of data for packages, and warns of each
    package_data={"": ["**/*"]},
    data_files=data,
    entry_points=entries,
    zip_safe=False,
)

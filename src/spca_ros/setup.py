from pathlib import Path

from setuptools import find_packages, setup

NAME = "spca_ros"


def tree(folder: str) -> list[tuple[str, list[str]]]:
    """Every file of a folder at the checkout's top, to be installed under share/."""
    top = Path("../..")
    folders = [d for d in [top / folder, *(top / folder).rglob("*")] if d.is_dir()]
    files = {d: sorted(str(f) for f in d.iterdir() if f.is_file()) for d in sorted(folders)}
    return [(f"share/{NAME}/{d.relative_to(top)}", names) for d, names in files.items() if names]


setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *tree("launch/config"),
    ],
    extras_require={"test": ["pytest"]},  # so that `colcon test` takes pytest
)

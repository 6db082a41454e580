from pathlib import Path

from setuptools import find_packages, setup

NAME = "spca"

setup(
    name=NAME,
    version="0.1.0",
    description="Command line, supervisor, run folders, reports and benchmarks of spca.",
    maintainer="The spca authors",
    maintainer_email="spca@example.org",
    license="MIT",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", sorted(str(p) for p in Path("../../launch").glob("*.launch.py"))),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},  # so that `colcon test` takes pytest
    zip_safe=False,
)

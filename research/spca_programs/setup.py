from setuptools import find_packages, setup

NAME = "spca_programs"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},  # so that `colcon test` takes pytest
    entry_points={
        "spca.commands": ["ipp = spca_programs.cli:IPP"],
        "spca.benches": ["grasp = spca_programs.commands:GRASP", "ipp = spca_programs.commands:IPP"],
    },
)

from setuptools import find_packages, setup

NAME = "spca_acpbench"

setup(
    name=NAME,
    version="0.1.0",
    description="ACPBench-Hard's questions and the PDDL of planning competitions, without a model.",
    maintainer="The spca authors",
    maintainer_email="spca@example.org",
    license="MIT",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},  # so that `colcon test` takes pytest
    entry_points={
        "spca.benches": [
            "acpbench = spca_acpbench.commands:ACPBENCH",
            "ipc = spca_acpbench.commands:IPC",
        ]
    },
    zip_safe=False,
)

from setuptools import find_packages, setup

NAME = "spca_worldcoder"

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
        "spca.commands": ["learn = spca_worldcoder.cli:LEARN"],
        "spca.benches": ["worldcoder = spca_worldcoder.commands:WORLDCODER"],
        "spca.learnable_worlds": [
            "sokoban = spca_worldcoder.worlds.catalogue:sokoban",
            "minigrid = spca_worldcoder.worlds.catalogue:minigrid",
            "household = spca_worldcoder.worlds.catalogue:household",
        ],
    },
)

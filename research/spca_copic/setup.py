from setuptools import find_packages, setup

NAME = "spca_copic"

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
        "spca.commands": ["copic = spca_copic.cli:COPIC"],
        "spca.benches": ["copic = spca_copic.commands:COPIC"],
        "spca.plan_worlds": [
            "household = spca_copic.worlds.household.world:HouseholdWorld",
            "build_order = spca_copic.worlds.build_order.world:BuildOrderWorld",
            "nethack = spca_copic.worlds.nethack.world:NethackWorld",
            "tabletop = spca_copic.worlds.tabletop.world:open_tabletop",
        ],
    },
)

from setuptools import find_packages, setup

NAME = "spca_extras"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    extras_require={"test": ["pytest"]},  # so that `colcon test` takes pytest
    entry_points={
        "spca.commands": [
            "calibrate = spca_extras.commands.calibrate:CALIBRATE",
            "dataset = spca_extras.commands.dataset:DATASET",
            "mcap = spca_extras.commands.mcap:MCAP",
            "mcp = spca_extras.commands.mcp:MCP",
        ]
    },
)

from setuptools import find_packages, setup

NAME = "spca_robot"

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
        "spca.arms": [f"{name} = spca_robot.arms:FILES" for name in ("ur3e", "ur5", "ur5e", "ur10e", "panda")]
    },
)

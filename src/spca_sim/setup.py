from setuptools import find_packages, setup

NAME = "spca_sim"

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
    entry_points={"console_scripts": ["sim = spca_sim.node:main", "gazebo = spca_sim.gazebo.node:main"]},
)

from setuptools import find_packages, setup

NAME = "spca_minigrid"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    extras_require={"test": ["pytest"], "rl": ["stable-baselines3"]},  # test: for colcon
    entry_points={"spca.environments": ["minigrid = spca_minigrid.kit:MinigridKit"]},
)

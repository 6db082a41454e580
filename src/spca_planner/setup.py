from setuptools import find_packages, setup

NAME = "spca_planner"

setup(
    name=NAME,
    version="0.1.0",
    description="From a scene and a task text to a validated plan: proposers, critics and the repair loop.",
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
        "spca.engines": ["fast-downward = spca_planner.solver.downward:FastDownward"],
    },
    zip_safe=False,
)

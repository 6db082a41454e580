from setuptools import find_packages, setup

NAME = "spca_tabletop"

setup(
    name=NAME,
    version="0.1.0",
    description=(
        "The tabletop: its skills, task language, planning domain, presets, and the environment in "
        "one process and over ROS."
    ),
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
        "console_scripts": [
            "display = spca_tabletop.ros.display.node:main",
        ],
        "spca.environments": ["tabletop = spca_tabletop.kit:TabletopKit"],
    },
    zip_safe=False,
)

from setuptools import find_packages, setup

NAME = "spca_robosuite"

setup(
    name=NAME,
    version="0.1.0",
    description="robosuite: manipulation in somebody else's simulator, in its own process.",
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
    entry_points={"spca.benches": ["robosuite = spca_robosuite.commands:ROBOSUITE"]},
    zip_safe=False,
)

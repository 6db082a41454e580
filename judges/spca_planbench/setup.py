from setuptools import find_packages, setup

NAME = "spca_planbench"

setup(
    name=NAME,
    version="0.1.0",
    description="Planetarium's problems and PlanBench's plans, as a chat model writes them.",
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
            "planbench = spca_planbench.commands:PLANBENCH",
            "planetarium = spca_planbench.commands:PLANETARIUM",
        ]
    },
    zip_safe=False,
)

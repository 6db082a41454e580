from setuptools import find_packages, setup

NAME = "spca_cliport"

setup(
    name=NAME,
    version="0.1.0",
    description="CLIPort: pick and place by one sentence a step, in its own process.",
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
    entry_points={"spca.benches": ["cliport = spca_cliport.commands:CLIPORT"]},
    zip_safe=False,
)

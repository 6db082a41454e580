from setuptools import find_packages, setup

NAME = "spca_judges"

setup(
    name=NAME,
    version="0.1.0",
    description="The judges' catalogue, their installation, and the port across the border of their process.",
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
    entry_points={"spca.commands": ["judge = spca_judges.cli:JUDGE"]},
    zip_safe=False,
)

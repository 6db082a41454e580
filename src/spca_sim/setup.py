from setuptools import find_packages, setup

NAME = "spca_sim"

setup(
    name=NAME,
    version="0.1.0",
    description="The embedded simulator: MuJoCo physics, contacts and an RGB-D camera.",
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
    entry_points={"console_scripts": ["sim = spca_sim.node:main"]},
    zip_safe=False,
)

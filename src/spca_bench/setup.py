from setuptools import find_packages, setup

NAME = "spca_bench"

setup(
    name=NAME,
    version="0.1.0",
    description="The engine of every benchmark: trials, resuming, statistics, pages and plots.",
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
    extras_require={"test": ["pytest"], "data": ["pyarrow"]},  # test: for colcon
    zip_safe=False,
)

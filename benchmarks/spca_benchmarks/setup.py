from setuptools import find_packages, setup

NAME = "spca_benchmarks"

setup(
    name=NAME,
    version="0.1.0",
    description="Benches that measure the stack.",
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
            "minigrid = spca_benchmarks.commands:MINIGRID",
            "models = spca_benchmarks.commands:MODELS",
            "pddl = spca_benchmarks.commands:PDDL",
            "rehearsal = spca_benchmarks.commands:REHEARSAL",
            "rl = spca_benchmarks.commands:RL",
        ],
        "spca.proposers": [
            "variant-one-validator = spca_benchmarks.models.variants:open_one_validator",
            "variant-small-repair = spca_benchmarks.models.variants:open_small_repair",
            "variant-vision-alone = spca_benchmarks.models.variants:open_vision_alone",
            "variant-whole-library = spca_benchmarks.models.variants:open_whole_library",
        ],
    },
    zip_safe=False,
)

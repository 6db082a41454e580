from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_benchmarks",
    {
        "spca.commands": ["bench = spca_benchmarks.campaigns.command_line:BENCH"],
        "spca.benches": [
            "levels = spca_benchmarks.commands:LEVELS",
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
)

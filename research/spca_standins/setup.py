from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_standins",
    {
        "spca.plan_worlds": ["build_order = spca_standins.build_order.world:BuildOrderWorld"],
        "spca.stand_ins": [
            "grammar = spca_standins.grammar_programs:GrammarPrograms",
            "hashed = spca_standins.hashed:HashedSelector",
            "inductive = spca_standins.inductive:Inductive",
        ],
    },
)

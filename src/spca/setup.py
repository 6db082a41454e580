from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca",
    {
        "console_scripts": [
            "spca = spca.__main__:main",
            "program = spca.ros:start_program",
            "planner = spca.ros.program:planner",
            "coder = spca.ros.program:coder",
        ],
        "spca.proposers": ["builtin = spca.proposals:open_builtin", "openai = spca.models:open_openai"],
    },
    shares=("examples", "launch"),
)

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package(
    "spca",
    {
        "console_scripts": [
            "spca = spca.__main__:main",
            "program = spca.ros.program:main",
            "planner = spca.ros.alone:planner",
            "coder = spca.ros.alone:coder",
        ],
        "spca.proposers": ["builtin = spca.proposals:open_builtin", "openai = spca.models:open_openai"],
    },
    shares=("examples", "launch"),
)

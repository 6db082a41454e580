"""Code in the pages of the documentation is that of tested files, which a comment above each block names.

Prints the blocks that differ; with `--write` it renews them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^<!-- ([\w./-]+) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def renewed(page: str) -> str:
    """The text of a page with every block as its file is now."""

    def block(found: re.Match[str]) -> str:
        name, kind = found.group(1, 2)
        return f"<!-- {name} -->\n```{kind}\n{(ROOT / name).read_text().rstrip()}\n```"

    return BLOCK.sub(block, page)


def main() -> int:
    """Compare every page, or renew it; the exit status."""
    differ = [
        path for path in sorted(ROOT.glob("docs/**/*.md")) if renewed(path.read_text()) != path.read_text()
    ]
    for path in differ:
        print(path.relative_to(ROOT))
        if "--write" in sys.argv:
            path.write_text(renewed(path.read_text()))
    return 1 if differ and "--write" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())

"""A hook of mkdocs: files of the repository that pages link to are part of the site, below `repository/`."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).resolve().parents[1]
_OUTSIDE = re.compile(r"(?<=\]\()(?:\.\./)+((?:benchmarks|examples)/[^)#\s]+)(?=\))")


def on_files(files: Files, config: Any) -> Files:
    """Add every file outside of `docs/` that a page links to."""
    named = {name for page in files.documentation_pages() for name in _OUTSIDE.findall(page.content_string)}
    for name in sorted(named):
        files.append(File.generated(config, f"repository/{name}", abs_src_path=str(_ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Have links to those files lead there."""
    up = "../" * (len(PurePosixPath(page.file.src_uri).parts) - 1)
    return _OUTSIDE.sub(lambda match: f"{up}repository/{match[1]}", markdown)

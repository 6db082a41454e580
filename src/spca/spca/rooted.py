"""Options with absolute paths: whoever carries a run out, or resumes it, may be in another folder."""

from __future__ import annotations

import os
from pathlib import Path

from spca_core.options import RunOptions
from spca_core.validation import YAML_FILES
from spca_llm.config import REPLAY


def rooted(options: RunOptions) -> RunOptions:
    """The same run in words that mean the same to every process."""
    files = {name: _file(getattr(options, name)) for name in ("level", "world", "llm")}
    if options.llm.startswith(REPLAY):
        files["llm"] = REPLAY + _folder(options.llm.removeprefix(REPLAY))
    return options.model_copy(update={**files, "library": _folder(options.library)})


def _file(text: str) -> str:
    """A name stays as it is, and so does the path of nothing, of which the user is to be told."""
    return os.path.abspath(text) if Path(text).suffix in YAML_FILES and os.path.isfile(text) else text


def _folder(text: str) -> str:
    return os.path.abspath(text) if text else ""

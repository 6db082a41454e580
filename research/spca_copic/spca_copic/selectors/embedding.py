"""A selector on static word embeddings: plans with words it never saw are scored by words like them.

The table (32,000 tokens × 256) and its tokenizer lie in the wheel `wordllama`; both are read directly.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from spca_copic.selectors.features import Sparse, hashed_groups
from spca_copic.selectors.hashed import HashedOptions, HashedSelector
from spca_core.errors import InputError
from spca_programs.plan_world import Candidate, ChoiceContext

INSTALL = "pip install --no-deps wordllama==0.4.0.post1; pip install tokenizers safetensors"
_WIDTH = 256
_BITS = 10
"""768 numbers of words, hashed features (whose plan, and whether it failed) among the other 256."""


def available() -> bool:
    """Whether the optional packages are installed."""
    return all(find_spec(name) is not None for name in ("wordllama", "tokenizers", "safetensors"))


class EmbeddingSelector(HashedSelector):
    """A `Selector`. Raises InputError where the optional packages are missing."""

    name = "embedding"

    def __init__(self, seed: int = 0) -> None:
        _table()
        super().__init__(HashedOptions(bits=_BITS, seed=seed))

    def candidate_features(self, context: ChoiceContext, candidate: Candidate) -> Sparse:
        """The plan, the task, and where both point the same way; and whose plan it is."""
        plan = embedding(" ".join(candidate.plan).replace("_", " "))
        task = embedding(context.instruction)
        both = [plan * other * _WIDTH**0.5 for other in (task, embedding(context.text))]
        words = np.concatenate([plan, *both])
        signs = [f"by={program}" for program in candidate.programs]
        signs += [f"again={candidate.plan == context.last_plan} after {context.last_failure}"]
        return _joined(words, hashed_groups([signs], 8))

    def context_features(self, context: ChoiceContext) -> Sparse:
        """The task and the situation, for the critic."""
        words = np.concatenate([embedding(context.instruction), embedding(context.text), np.zeros(_WIDTH)])
        return _joined(words, hashed_groups([["bias", f"failure={context.last_failure}"]], 8))


def _joined(words: np.ndarray, signs: Sparse) -> Sparse:
    indices = np.concatenate([np.arange(3 * _WIDTH), 3 * _WIDTH + signs[0]]).astype(np.int32)
    return indices, np.concatenate([words, signs[1]]).astype(np.float32)


@lru_cache(maxsize=4096)
def embedding(text: str) -> np.ndarray:
    """The mean of a text's tokens, of norm 1 (0 for no token), shape (256,)."""
    table, tokenizer = _table()
    tokens = tokenizer.encode(text.lower(), add_special_tokens=False).ids
    if not tokens:
        return np.zeros(_WIDTH)
    mean = table[tokens].mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) + 1e-9), dtype=float)


@lru_cache(maxsize=1)
def _table() -> tuple[np.ndarray, Any]:
    if not available():
        raise InputError("the selector 'embedding' needs a table of words", "--selector", INSTALL)
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    (table,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    return np.asarray(table, np.float32), tokenizer

"""GRASP's released answers, scored by the rules of this project."""

from __future__ import annotations

RELEASED = {
    "random walk": (-1.78, 3.10, 16_000, 19.0),
    "GPT-3.5-Turbo, zero-shot": (-2.53, 2.91, 1600, 18.3),
    "GPT-4o, zero-shot": (-1.12, 3.14, 1600, 19.1),
    "GPT-o1-mini, zero-shot": (0.38, 3.27, 800, 19.8),
}
"""Mean, standard deviation, environments, mean number of actions. Made by
`benchmarks/grasp_released_answers.py`, which says how actions are read from a free text."""

NOTE = (
    "GRASP's own table used a scorer in which diagonal moves did not move the agent and in which the energy "
    "was read at the agent's last cell, so that its energies cannot be compared with these; its lengths can."
)

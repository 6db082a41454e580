"""Published figures to compare results with, and where they come from.

GRASP: Tang and Kejriwal, "GRASP: A Grid-Based Benchmark for Evaluating Commonsense Spatial Reasoning" (2024).
IPP: Vaithinathan Aravindan, Tang and Kejriwal, "Code-Driven Planning in Grid Worlds with Large Language
Models" (2025). Scores are those of `spca_programs.grasp.rules`.
"""

from __future__ import annotations

OVERALL = {
    "greedy": (0.89, 3.28),
    "IPP, the best published (Gemini-2.5-Pro)": (3.22, None),
}
"""GRASP, mean and standard deviation over all 16,000 environments with the released grids."""

RELEASED = {
    "random walk": (-1.78, 3.10, 16_000, 19.0),
    "GPT-3.5-Turbo, zero-shot": (-2.53, 2.91, 1600, 18.3),
    "GPT-4o, zero-shot": (-1.12, 3.14, 1600, 19.1),
    "GPT-o1-mini, zero-shot": (0.38, 3.27, 800, 19.8),
}
"""The answers that GRASP's authors released, scored by the rules of this project: mean, standard deviation,
environments, mean number of actions. Made by `benchmarks/grasp_released_answers.py`, which says how actions
are read from a free text."""

NOTE = (
    "GRASP's own table used a scorer in which diagonal moves did not move the agent and in which the energy "
    "was read at the agent's last cell, so that its figures cannot be compared with these. The rows of its "
    "models are the released answers, scored by the rules of this project."
)

IPP: tuple[tuple[str, str, str], ...] = (
    *(("grasp", name, f"mean score {mean:.2f}") for name, (mean, _) in OVERALL.items()),
    *(
        ("grasp", f"{name}, {count:,} environments", f"mean score {mean:.2f}, {actions} actions")
        for name, (mean, _, count, actions) in RELEASED.items()
    ),
    ("grasp", "IPP with GPT-o3-mini over asking it for each plan", "+116 %"),
    ("minigrid", "IPP with GPT-o3-mini over asking it for each plan", "+63 %"),
    ("minigrid", "iterative refinement, GPT-o1", "completes 100 % of all three tasks"),
    ("minigrid", "iterative refinement, GPT-o3-mini", "completes 100 % of two of the three tasks"),
    ("", "IPP over direct code generation, five of six models", "+10 % to ten times the score"),
    ("", "cost of a program / of a plan asked for, GPT-o3-mini", "0.08 / 0.002 US dollars"),
)
"""Task (the beginning of its name; empty for all), what, and the figure."""

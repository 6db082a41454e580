"""Published figures to compare results with.

All use the score of `spca_programs.grasp.rules` over all 16,000 environments.
"""

from __future__ import annotations

OVERALL = {
    "greedy": (0.89, 3.28),
    "IPP, the best published (Gemini-2.5-Pro)": (3.22, None),
    "beam search of width 2,000": (3.60, None),
}

# By the rules (number of moves, carry limit, cost of an action).
GREEDY = {
    "4,∞,0": 5.10,
    "4,∞,0.3": -0.40,
    "4,2,0": 1.99,
    "4,2,0.3": -3.53,
    "8,∞,0": 5.57,
    "8,∞,0.3": -0.02,
    "8,2,0": 2.00,
    "8,2,0.3": -3.59,
}
BEAM = {
    "4,∞,0": 7.09,
    "4,∞,0.3": 1.47,
    "4,2,0": 4.29,
    "4,2,0.3": 0.00,
    "8,∞,0": 8.23,
    "8,∞,0.3": 2.36,
    "8,2,0": 5.12,
    "8,2,0.3": 0.22,
}

"""Published figures of SPCA on MiniGrid, one seed a level, with language models."""

from __future__ import annotations

# Success and attempts by category.
SUCCESS: dict[str, tuple[int, int]] = {
    "goal_navigation": (11, 11),
    "static_obstacle_navigation": (13, 13),
    "hazard_avoidance": (9, 9),
    "pickup_only": (10, 10),
    "open_door": (18, 19),
    "memory_ordering": (12, 12),
    "unlock_door": (2, 3),
    "unlock_pickup": (1, 4),
    "obstacle_blocking": (0, 0),
}
OVERALL = (76, 102)
ROUNDS = 1.38
MEDIAN_MINUTES, MEAN_MINUTES = 0.42, 3.12
USD = 12.75
"""Tokens of all 102 levels."""

# Episodes of reinforcement learning until 99 %, and its success in percent after 500 episodes.
LEARNING = {
    "BabyAI-GoToRedBallGrey": ("10,000-40,000", 26),
    "BabyAI-GoToRedBall": ("10,000-65,000", 37),
    "BabyAI-GoToLocal": ("136,000-354,000", 30),
    "BabyAI-PickupLoc": ("186,000-882,000", 15),
}

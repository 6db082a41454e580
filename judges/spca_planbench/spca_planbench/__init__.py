"""A chat model's answers to Planetarium and PlanBench, before and after critics and repair."""

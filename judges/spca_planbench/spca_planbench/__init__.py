"""What a chat model writes for Planetarium and PlanBench, before and after critics and repair."""

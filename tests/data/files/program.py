def solve(grid):
    return []

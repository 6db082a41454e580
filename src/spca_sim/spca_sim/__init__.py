"""The embedded simulator: MuJoCo physics, a software RGB-D camera, recordings and videos."""

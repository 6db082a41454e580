"""The embedded simulator: MuJoCo physics, an RGB-D camera that needs no graphics library, recordings and videos."""

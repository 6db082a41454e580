"""The embedded simulator: MuJoCo physics, a software RGB-D camera, recordings and videos."""

import spca_robot  # noqa: F401  (decides how MuJoCo is imported)

"""MotionBenchMaker (C. Chamzas et al., RA-L 7(2), 2022): how well and how fast motions are planned."""

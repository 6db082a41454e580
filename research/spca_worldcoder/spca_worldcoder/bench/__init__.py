"""`spca bench worldcoder`: suites of worlds, baselines, and the page."""

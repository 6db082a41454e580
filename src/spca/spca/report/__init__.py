"""Pages for the browser: a run's report, the index of all runs, and what such pages are made of."""

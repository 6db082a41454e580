"""The engine of campaigns: what `spca bench` runs, resumes, compares and shows."""

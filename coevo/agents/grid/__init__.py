"""Models and prompts: one file that names both, an attempt at each task for each pair of them, one report."""

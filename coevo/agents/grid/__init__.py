"""Grids of models and prompts: one attempt at each task for each combination, and one report."""

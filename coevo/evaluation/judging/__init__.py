"""Grading of one prediction: its patch, the start state, and the runs of its targets."""

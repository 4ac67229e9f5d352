"""Grading of one prediction: apply the patch to the start state, run its targets, decide the
outcomes.
"""

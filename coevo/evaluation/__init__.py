"""Grading of submitted test patches against the tasks of a snapshot (TestEvo-Bench, §4)."""

"""Grading of suites: submissions of families other than `coevolution`, graded by all tests."""

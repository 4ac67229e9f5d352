"""Adequacy of submitted tests that pass, measured beside gold (TestEvo-Bench, A.4 to A.6)."""

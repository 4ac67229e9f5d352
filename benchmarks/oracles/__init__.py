"""Slow references for the engine: the protocol of TestEvo-Bench A.2, and Maven alone."""

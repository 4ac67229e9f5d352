"""Slow references for the engine: plain commands of each language, each test in a process of its own."""

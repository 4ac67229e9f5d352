"""Compose the steps: as plain calls, as verbs of the command line, and as Prefect flows."""

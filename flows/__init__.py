"""Compose the steps: plain calls, the verbs of the command line, and Prefect flows
(`flows.live`)."""

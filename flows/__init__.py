"""The steps composed: `pipeline` in plain calls, `cli` for the command line; Prefect's flows come."""

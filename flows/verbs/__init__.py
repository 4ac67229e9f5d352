"""The verbs of the `coevo` command that belong to the pipeline."""

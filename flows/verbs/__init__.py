"""The verbs of the `coevo` command that the pipeline adds."""

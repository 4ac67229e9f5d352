"""Run agents on tasks of a snapshot: in a sandbox, with one endpoint, limited in time and cost."""

"""Run agents on the tasks of a snapshot: in the sandbox, with one endpoint, time and cost capped."""

"""Start states: what a task begins with, cut from the new revision and run."""

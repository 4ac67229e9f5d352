"""A baseline of test-update identification that trains on a CPU, on static and on dynamic labels."""

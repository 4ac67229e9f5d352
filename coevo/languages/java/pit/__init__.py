"""PIT, the advisory tool for mutants."""

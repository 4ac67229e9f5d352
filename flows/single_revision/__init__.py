"""The test files of a revision as suites: run, traced, and worth what they are worth."""

"""Submissions that are judged by all of their tests: suites, of tasks of other families than `coevolution`."""

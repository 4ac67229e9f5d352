"""Grading of suites: submissions judged by all of their tests, in families other than
`coevolution`.
"""

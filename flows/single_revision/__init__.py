"""Suites from the test files of a revision: run, traced and measured."""

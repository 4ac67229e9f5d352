"""Measures of tests beyond their cells, such as coverage, mutants and undone changes.

Measures that run tests take a built pair and plain records.
"""

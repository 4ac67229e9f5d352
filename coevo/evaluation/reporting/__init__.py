"""Rates, means, intervals, tables and comparisons, made from rows of results."""

"""Prefect's flows: schedule, parameters, retries and what its UI shows. They only call plain functions.

Nothing else of coevo imports Prefect, and nothing rests on what it remembers: after any kill the
store says what is done.
"""

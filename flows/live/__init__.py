"""Prefect's flows: schedules, parameters, retries, and output for its UI.

They only call plain functions. No other part of coevo imports Prefect, and nothing depends on
Prefect's memory: after any kill the store shows what is done.
"""

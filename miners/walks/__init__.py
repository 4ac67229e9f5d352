"""Decide which commits make a pair."""

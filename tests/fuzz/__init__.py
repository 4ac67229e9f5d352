"""Seeded campaigns of broken input. A seed that once broke something stays in a list of its test."""

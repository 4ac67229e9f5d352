"""Estimates what a model gained by having seen answers: success before its cutoff and after it."""

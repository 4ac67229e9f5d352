"""Figures that other papers' published data allow to check: each measured here beside what is expected."""

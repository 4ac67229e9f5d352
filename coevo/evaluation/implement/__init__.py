"""Grading of code that was written for given tests (family `implement`)."""

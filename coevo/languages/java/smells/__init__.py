"""Detect smells in Java tests; each group of smells has its own module.

Implements `coevo.languages.measures.SmellDetector`.
"""

from coevo.languages.java.smells.tsdetect import find_smells

__all__ = ['find_smells']

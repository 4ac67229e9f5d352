"""Detect the test smells of Python tests; each group of smells is a module.

Implements `coevo.languages.measures.SmellDetector`.
"""

from coevo.languages.python.smells.pynose import find_smells

__all__ = ['find_smells']

"""What smells in Java tests, each group of smells a module. Fulfils `coevo.languages.measures.SmellDetector`."""

from coevo.languages.java.smells.tsdetect import find_smells

__all__ = ['find_smells']

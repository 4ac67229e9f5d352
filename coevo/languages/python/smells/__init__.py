"""What smells in Python tests, each group of smells a module. Fulfils `coevo.languages.measures.SmellDetector`."""

from coevo.languages.python.smells.pynose import find_smells

__all__ = ['find_smells']

"""What smells in Python tests, each group of smells a module. Fulfils `coevo.languages.smells.Smells`."""

from coevo.languages.python.smells.pynose import smells_of

__all__ = ['smells_of']

"""What smells in Java tests, each group of smells a module. Fulfils `coevo.languages.smells.Smells`."""

from coevo.languages.java.smells.tsdetect import smells_of

__all__ = ['smells_of']

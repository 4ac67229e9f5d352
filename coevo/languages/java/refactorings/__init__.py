"""Detect the refactorings of a pair with RefactoringMiner."""

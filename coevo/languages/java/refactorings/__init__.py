"""What RefactoringMiner finds in a pair."""

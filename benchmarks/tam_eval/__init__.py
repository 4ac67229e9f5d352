"""Published samples of TAM-Eval, run again: coverage of the focal file by the test file, at the start and as it was."""

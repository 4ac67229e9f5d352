"""The cells of a pair, run and compared, whatever the language."""

"""Cells: the code of one revision with the tests of another, and edits of either, as class files."""

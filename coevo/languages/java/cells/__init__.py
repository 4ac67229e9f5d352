"""Cells: the code of one revision with the tests of another, and what is edited of either, as class files."""

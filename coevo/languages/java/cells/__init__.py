"""Cells: code of one revision with tests of another, and edits of either, as class files."""

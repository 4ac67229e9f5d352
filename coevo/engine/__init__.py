"""Run the cells of a pair and compare their outcomes, in any language."""

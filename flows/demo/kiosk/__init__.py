"""A small Python project with a history that holds every label and most drops."""

"""A small Go project with a history that holds every label and most drops."""

"""A small Java project with a history that holds every label and drop once at least."""

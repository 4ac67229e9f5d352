"""Find repositories and their metadata."""

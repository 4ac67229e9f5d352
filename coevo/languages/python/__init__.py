"""Python: environments of old revisions, and their tests run by pytest in the sandbox."""

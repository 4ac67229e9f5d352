"""Support for Python: environments for old revisions, and their tests run by pytest in the sandbox."""

"""Support for Python: environments of old revisions, and tests run by pytest in the sandbox."""

"""Test processes: the class path, options and tree of each, and how it is run."""

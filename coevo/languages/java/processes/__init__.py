"""Test processes: class path, options and tree of each, and how one is run."""

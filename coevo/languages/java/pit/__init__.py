"""PIT, the advisory mutation tool."""

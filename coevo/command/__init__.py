"""The `coevo` command."""

"""What smells in Java tests, each group of smells a module."""

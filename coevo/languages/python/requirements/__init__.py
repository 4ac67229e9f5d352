"""What a revision says that it needs, read from its files; nothing of it is run."""

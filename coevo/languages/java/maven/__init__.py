"""Maven: how a revision is built, and what its POMs say."""

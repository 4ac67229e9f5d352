"""Maven: how a revision is made to build, and what its POMs say."""

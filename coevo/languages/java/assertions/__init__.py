"""The assertions of Java tests: where they stand, and what they say."""

"""Gradle: the distributions that a machine has, which of them builds a revision, and how it is asked."""

"""Gradle: the distributions of a machine, the choice of one for a revision, and its commands."""

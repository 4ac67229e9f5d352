"""Read the requirements that a revision states in its files; none of its code is run."""

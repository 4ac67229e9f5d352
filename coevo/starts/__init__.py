"""Start states of tasks: made from the new revision, and checked by running them."""

"""Snapshots from a reader's side: where they lie, what holds in them, what is asked of them."""

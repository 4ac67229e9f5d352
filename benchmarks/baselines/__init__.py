"""Answers that ask for no understanding, as submissions for any snapshot: what a score means beside them."""

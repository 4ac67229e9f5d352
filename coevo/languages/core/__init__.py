"""What the wings of languages share: algorithms over what each of them reads of its files.

Nothing in here knows a language; each one gives its outline of a file, and says in records of
functions what differs.
"""

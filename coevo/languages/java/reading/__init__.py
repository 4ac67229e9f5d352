"""Java files as text: types, members, tokens, tests."""

"""Output for people: terminals, tables, progress, and the redaction of secrets."""

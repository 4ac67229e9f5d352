"""Code that languages share: test processes, their reports, sessions, engines, cutting of files."""

"""Code that several languages share: test processes and their reports, sessions, engines, cutting
of test files.
"""

"""What several languages do alike: processes that run tests, what they say, sessions, engines; how test files are cut."""

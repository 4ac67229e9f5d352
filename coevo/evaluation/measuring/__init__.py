"""What a submitted test that passes is worth beside gold (TestEvo-Bench, A.4 to A.6)."""

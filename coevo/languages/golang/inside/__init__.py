"""The sources of coevo's program in Go, and of the files added to the package testing."""

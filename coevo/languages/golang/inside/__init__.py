"""Our program in Go, and what is put beside `testing`; sources alone."""

"""A month in small, from crawl to snapshot, to be disturbed: what a fault leaves must not show."""

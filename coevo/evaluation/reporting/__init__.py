"""Reports on rows of results: rates, means, intervals, tables, comparisons."""

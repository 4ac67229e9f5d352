"""What rows of results say: rates, means, intervals, tables, comparisons."""

"""From the store's rows to a snapshot: dates, tasks, Parquet, manifest and card."""

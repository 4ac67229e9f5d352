"""Make snapshots from the store's rows: dates, tasks, Parquet files, manifest and card."""

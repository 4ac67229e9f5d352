"""Java files cut and put together again: start files, transplants."""

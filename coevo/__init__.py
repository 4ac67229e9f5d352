"""coevo: executable test-maintenance tasks from the history of public repositories."""

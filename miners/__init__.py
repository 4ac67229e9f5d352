"""Read repositories without executing them: clones, walks, changes, and dependencies."""

"""Read repositories without executing them: clones, walks, changes of methods and their
dependencies."""

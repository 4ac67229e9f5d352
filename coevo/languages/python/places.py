"""Where things lie inside the sandbox."""

from __future__ import annotations

# Read-only: what a test process is given of the run's folder, the interpreter, its packages.
TREE_FILE, PROGRAMS = '/in/tree', '/in/programs'
PYTHON, PACKAGES = '/python', '/packages'

# Writable, in memory: the tree that tests run in, and a virtual environment that leads to it.
TREE, ENVIRONMENT = '/w/tree', '/w/env'

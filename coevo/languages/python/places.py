"""Paths inside the sandbox."""

from __future__ import annotations

# Read-only: the files of the run, the interpreter and its packages.
TREE_FILE, PROGRAMS = '/in/tree', '/in/programs'
PYTHON, PACKAGES = '/python', '/packages'

# Writable, in memory: the tree that tests run in, and a virtual environment for it.
TREE, ENVIRONMENT = '/w/tree', '/w/env'

# Links to the programs of the host that tests may use.
TOOLS = f'{ENVIRONMENT}/tools'

"""Where things lie inside the sandbox."""

from __future__ import annotations

# Read-only: the tree of a cell, our program, what replaces files of the standard library, compiled packages
# of others, downloaded modules, the Go that is not the system's own.
TREE_FILE, PROGRAM, OVERLAY = '/in/tree', '/in/program', '/in/overlay'
CACHES = ('/in/cache/own', '/in/cache/std')
MODULES, TOOLCHAIN = '/in/modules', '/sdk/go'
BINARY = '/in/binary'

# Writable, in memory: trees lie in a folder that ends in the path of their module.
SOURCES = '/w/src'
# A module cache of one job, in which those of MODULES are by links.
OWN_MODULES = '/w/modules'

"""Paths inside the sandbox, which are the same for every job."""

from __future__ import annotations

# Read-only: the tree of a cell, coevo's program, replacements for files of the standard library,
# compiled packages of the compiler and of the standard library, downloaded modules, a Go that is
# not the system's own.
TREE_FILE, PROGRAM, OVERLAY = '/in/tree', '/in/program', '/in/overlay'
CACHES = ('/in/cache/own', '/in/cache/std')
MODULES, TOOLCHAIN = '/in/modules', '/sdk/go'
BINARY = '/in/binary'

# Writable, in memory: each tree lies in a folder that ends in the path of its module.
SOURCES = '/w/src'
# The module cache and the cache of compiled packages of one job; they contain links to MODULES and
# CACHES.
OWN_MODULES, OWN_CACHE = '/w/modules', '/w/cache'

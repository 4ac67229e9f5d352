"""Paths inside the sandbox."""

from __future__ import annotations

# The build file that decides if there are several: a POM takes precedence over Gradle's scripts.
POM = 'pom.xml'

# Read-only: the run's workspace, the shared libraries in Maven's layout, coevo's tools.
WORKSPACE, REPOSITORY, TOOLS = '/in', '/repo', '/tools'

# Writable, on a file system of limited size: the tree that tests run in, the tree that Maven builds
# in, and Maven's local repository, which takes precedence over the shared one.
TREE = '/w'
BUILD_TREE, HEAD = '/w/build', '/w/m2'

# Gradle distributions, read-only, each under its version; Gradle's home folder during a build.
GRADLES, GRADLE_FOLDER = '/gradles', '/w/gradle'

# The packed tree of a test process, see `packed_trees`.
PACKED_TREE = '/in/tree'

# The socket of the proxy that downloads libraries.
SOCKET = '/run/coevo-artifacts'

# Archives of classes, read-only.
ARCHIVES = '/archives'

"""Where things lie inside the sandbox."""

from __future__ import annotations

# The build file that counts where there are several: a POM wins over Gradle's scripts.
POM = 'pom.xml'

# Read-only: the run's workspace, the shared libraries in Maven's layout, our tools.
WORKSPACE, REPOSITORY, TOOLS = '/in', '/repo', '/tools'

# Writable, on a file system of limited size: the tree that tests run in; the tree that Maven
# builds in, and its own local repository before the shared one.
TREE = '/w'
BUILD_TREE, HEAD = '/w/build', '/w/m2'

# Distributions of Gradle, read-only, each under its version; what Gradle keeps during a build.
GRADLES, GRADLE_FOLDER = '/gradles', '/w/gradle'

# What a test process is given of the workspace: its tree, see `packed_trees`.
PACKED_TREE = '/in/tree'

# The socket of the proxy that fetches libraries.
SOCKET = '/run/coevo-artifacts'

# Archives of libraries' classes, read-only.
ARCHIVES = '/archives'

"""What the back ends are called, for who chooses one and need not have what they are made of."""

from __future__ import annotations

BUBBLEWRAP, DOCKER, NONE = 'bubblewrap', 'docker', 'none'
NAMES = (BUBBLEWRAP, DOCKER, NONE)

# Where files, processes and network are a job's own.
CONFINING = (BUBBLEWRAP, DOCKER)

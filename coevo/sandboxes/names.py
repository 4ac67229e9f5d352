"""The names of the back ends, to be imported without the libraries that back ends need."""

from __future__ import annotations

BUBBLEWRAP, DOCKER, NONE = 'bubblewrap', 'docker', 'none'
NAMES = (BUBBLEWRAP, DOCKER, NONE)

# Back ends in which a job has files, processes and a network of its own.
CONFINING = (BUBBLEWRAP, DOCKER)

"""Java built by Maven: the module that fulfils `coevo.languages.base.Language`."""

from __future__ import annotations

from coevo.git.repository import Repository
from coevo.languages.java.maven.pairing import PairWorkshop
from coevo.languages.java.maven.pairing import Yards
from coevo.languages.java.maven.site import Site

NAME = 'java'

__all__ = ['NAME', 'PairWorkshop', 'Site', 'Yards', 'detect']


def detect(repository: Repository, rev: str) -> bool:
    """Whether a revision has a POM at its root."""
    return 'pom.xml' in repository.tree(rev)

"""A repository that a test writes, and a workshop where its last revision is built."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.java.maven.run_context import JavaRunContext
from coevo.languages.java.maven.shared_builds import SharedBuilds
from coevo.languages.java.maven.workshop import JavaWorkshop
from coevo.languages.java.tools.jdks import Jdk
from tests.projects import write
from tests.repos import git


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A revision that was built, and where."""

    builds: SharedBuilds
    workshop: JavaWorkshop
    rev: str


@contextmanager
def opened(
    folder: Path,
    steps: Sequence[Mapping[str, str | bytes | None]],
    *,
    sandbox: str = 'bubblewrap',
    jdk: Jdk | None = None,
) -> Iterator[Place]:
    """A place for commits of these files, an hour apart."""
    repository = write(folder / 'repository', steps)
    rev = git(repository, 'rev-parse', 'HEAD').strip()
    with ExitStack() as stack:
        run = JavaRunContext(Repository(repository / '.git'), sandbox=sandbox, stack=stack)
        builds = SharedBuilds(run, jdk)
        workshop = JavaWorkshop(builds)
        stack.callback(workshop.close)
        assert workshop.build(rev).summary == 'built'
        yield Place(builds=builds, workshop=workshop, rev=rev)

"""A repository that a test writes, and its last revision, built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.java.built_pair import JavaBuiltPair
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.jdks import Jdk
from coevo.model.records import Pair
from coevo.model.words import Walk
from tests.projects import write
from tests.repos import git


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A revision that was built, and where."""

    builds: SharedBuilds
    built: JavaBuiltPair
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
        built = built_alone(run.repository, builds, rev)
        stack.callback(built.worker.close)
        assert built.new.built_or_first_failure == 'built'
        yield Place(builds=builds, built=built, rev=rev)


def built_alone(repository: Repository, builds: SharedBuilds, rev: str) -> JavaBuiltPair:
    """A pair of a revision with itself; its worker has to be closed."""
    worker = JdkWorker(builds)
    commit, build = repository.get_commit(rev), worker.build(rev)
    pair = Pair(
        repo='local/place',
        language='java',
        walk=Walk.PARENTS,
        old=commit,
        new=commit,
        old_is_ancestor=True,
    )
    return JavaBuiltPair(pair=pair, old=build, new=build, worker=worker)

"""Find the files from which texts are restored: in a user's clones, in a store, or by fetching."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.clones import NoRepository, open_repository_with
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.model.errors import Fatal, Transient
from coevo.snapshots.code_free.recipes import TextSource


class SourceUnavailable(RuntimeError):
    """Raised if a repository lacks files that texts are made of; says which, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneLocations:
    """Places to look for repositories, in this order; those found in neither are fetched.

    folder  a user's clones, as OWNER/NAME, OWNER/NAME.git or OWNER+NAME.git
    store   a coevo store; its clones are used if they have what is needed
    """

    folder: Path | None = None
    store: Path | None = None

    @contextmanager
    def open_repository(
        self, repo: str, url: str | None, sources: Collection[TextSource]
    ) -> Iterator[Repository]:
        """Yield a repository that has all of these files.

        Raises: SourceUnavailable if there is none.
        """
        named = self._find_named_clone(repo)
        if named is not None:
            with closing(Repository(named)) as repository:
                _check_sources(repository, sources, str(named))
                yield repository
            return
        revs = sorted({source.rev for source in sources})
        try:
            with open_repository_with(repo, url, revs, self.store) as fetched:
                _check_sources(fetched, sources, str(fetched.git_dir))
                yield fetched
        except (NoRepository, Transient) as error:
            raise SourceUnavailable(str(error)) from None

    def _find_named_clone(self, repo: str) -> Path | None:
        if self.folder is None:
            return None
        owner, _, name = repo.partition('/')
        for path in (f'{owner}/{name}', f'{owner}/{name}.git', f'{owner}+{name}.git'):
            for folder in (self.folder / path / '.git', self.folder / path):
                if (folder / 'HEAD').is_file():
                    return folder
        return None


def _check_sources(repository: Repository, sources: Collection[TextSource], shown: str) -> None:
    """Raise SourceUnavailable if a file is missing."""
    wanted = list(sources)
    request = ''.join(f'{source.blob}\n' for source in wanted)
    try:
        answers = run_git(repository.git_dir, 'cat-file', '--batch-check', stdin=request.encode())
    except Fatal as error:
        raise SourceUnavailable(str(error)) from None
    lines = answers.decode('utf-8', 'replace').splitlines()
    lacking = [
        source
        for source, line in zip(wanted, lines, strict=True)
        if line.split()[1:2] != ['blob'] or line.split()[0] != source.blob
    ]
    if lacking:
        first = lacking[0]
        raise SourceUnavailable(
            f'{shown} lacks {len(lacking)} of {len(wanted)} files, first {first.path} of '
            f'{first.rev[:12]}: fetch all of its branches, tags and pull requests, whole, or name '
            'another clone'
        )

"""The files that recipes cut slices of, out of clones: named ones, those of a store, or fetched ones."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from contextlib import closing
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.clones import NoRepository
from coevo.git.clones import repository_with
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.snapshots.code_free.recipes import Source


class NotHad(RuntimeError):
    """A repository does not give what texts are made of; says which file it lacks, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clones:
    """Where repositories are looked for, in this order; what is in neither is fetched.

    folder  of clones of anyone: OWNER/NAME, OWNER/NAME.git or OWNER+NAME.git in it
    store   whose clones are used where they have what is needed
    """

    folder: Path | None = None
    store: Path | None = None

    @contextmanager
    def having(
        self, repo: str, url: str | None, sources: Collection[Source]
    ) -> Iterator[Repository]:
        """A repository with all of these files; NotHad where there is none."""
        named = self._named(repo)
        if named is not None:
            with closing(Repository(named)) as repository:
                _check(repository, sources, str(named))
                yield repository
            return
        revs = sorted({one.rev for one in sources})
        try:
            with repository_with(repo, url, revs, self.store) as found:
                _check(found, sources, str(found.git_dir))
                yield found
        except (NoRepository, Transient) as error:
            raise NotHad(str(error)) from None

    def _named(self, repo: str) -> Path | None:
        if self.folder is None:
            return None
        owner, _, name = repo.partition('/')
        for path in (f'{owner}/{name}', f'{owner}/{name}.git', f'{owner}+{name}.git'):
            for folder in (self.folder / path / '.git', self.folder / path):
                if (folder / 'HEAD').is_file():
                    return folder
        return None


def _check(repository: Repository, sources: Collection[Source], shown: str) -> None:
    """NotHad if an object is not there."""
    wanted = list(sources)
    asked = ''.join(f'{one.blob}\n' for one in wanted)
    try:
        answers = run_git(repository.git_dir, 'cat-file', '--batch-check', stdin=asked.encode())
    except Fatal as error:
        raise NotHad(str(error)) from None
    lines = answers.decode('utf-8', 'replace').splitlines()
    lacking = [
        one
        for one, line in zip(wanted, lines, strict=True)
        if line.split()[1:2] != ['blob'] or line.split()[0] != one.blob
    ]
    if lacking:
        first = lacking[0]
        raise NotHad(
            f'{shown} lacks {len(lacking)} of {len(wanted)} files, first {first.path} of '
            f'{first.rev[:12]}: fetch all of its branches, tags and pull requests, whole, or name '
            'another clone'
        )

"""A repository that a Git server on loopback offers, for tests to clone from and to rewrite."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from miners.cloning.clones import Clone
from tests.git_server import GitBackend, serving
from tests.repos import commit, git, init

PULLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A server of one folder; `cat` is the work tree that is offered at `url`."""

    backend: GitBackend
    cat: Path
    url: str


@contextmanager
def hosting(folder: Path) -> Iterator[Host]:
    """octo/cat with a default branch of 200 kB, a tag, and pull requests of 100 kB each."""
    cat = init(folder / 'octo' / 'cat')
    first = commit(cat, 'first', {'A.java': 'class A {}', 'noise.bin': noise(200_000)})
    git(cat, 'tag', '-a', '-m', 'one', 'v1')
    for number in range(1, PULLS + 1):
        rev = commit(cat, 'pull', {'B.bin': noise(100_000, seed=number)}, parents=[first])
        git(cat, 'update-ref', f'refs/pull/{number}/head', rev)
        git(cat, 'update-ref', f'refs/pull/{number}/merge', rev)
    git(cat, 'reset', '-q', '--hard', first)
    backend = GitBackend(folder)
    with serving(backend) as url:
        yield Host(backend=backend, cat=cat, url=f'{url}/octo/cat')


def noise(size: int, *, seed: int = 0) -> bytes:
    """Bytes that no compression makes fewer."""
    return random.Random(seed).randbytes(size)


def refs(clone: Clone | Path) -> dict[str, str]:
    folder = clone.git_dir if isinstance(clone, Clone) else clone
    listing = git(folder, 'for-each-ref', '--format=%(objectname) %(refname)')
    return {ref: oid for oid, ref in (line.split(' ', 1) for line in listing.split('\n'))}

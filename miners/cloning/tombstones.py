"""The tombstone of a clone that was evicted: where it came from, when, and what only it had.

NAME.remains/source.json        {"location": URL, "kept": ids of commits that the source lost}
NAME.remains/kept.pack          their objects, but for those that the source's default branch
                                and tags lead to
NAME.remains/coevo-crawl.json   when the clone was brought to what its refs said
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import ENVIRONMENT
from coevo.model.errors import Transient
from coevo.storage import durable
from miners.cloning.mirror_git import git
from miners.cloning.mirror_git import missing
from miners.cloning.mirror_git import origin
from miners.cloning.mirror_git import refs_of
from miners.cloning.mirror_git import run
from miners.cloning.mirror_git import stream
from miners.cloning.remotes import KEPT
from miners.cloning.remotes import Advertised
from miners.cloning.remotes import Remote
from miners.discovery.crawls import CRAWL

_SOURCE, _PACK = 'source.json', 'kept.pack'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    location: str
    kept: tuple[str, ...]


def write(git_dir: Path, advertised: Advertised) -> None:
    """Write down what cannot be had again of a clone that is about to go."""
    offered = {*advertised.refs.values()}
    kept = sorted({*refs_of(git_dir).values()} - offered)
    lasting = {
        oid
        for ref, oid in advertised.refs.items()
        if ref == advertised.branch or ref.startswith('refs/tags/')
    }
    scratch = git_dir.with_name(f'.{git_dir.name}.remains')
    scratch.mkdir()
    if kept:
        excluded = lasting - missing(git_dir, lasting)
        _pack(git_dir, scratch / _PACK, [*kept, *(f'^{oid}' for oid in sorted(excluded))])
    if (git_dir / CRAWL).exists():
        durable.write(scratch / CRAWL, [(git_dir / CRAWL).read_bytes()])
    source = json.dumps({'location': origin(git_dir), 'kept': kept})
    durable.write(scratch / _SOURCE, [source.encode()])
    scratch.rename(_folder(git_dir))
    durable.sync(git_dir.parent)


def restore(remote: Remote, git_dir: Path, scratch: Path) -> tuple[str, ...]:
    """Put what stayed of an evicted clone into its new one; sentences about what misses its past."""
    source = _read(git_dir)
    if source is None:
        return ()
    if (_folder(git_dir) / CRAWL).exists():
        shutil.copyfile(_folder(git_dir) / CRAWL, scratch / CRAWL)
    if source.kept:
        with (_folder(git_dir) / _PACK).open('rb') as pack:
            stream(scratch, 'index-pack', '--stdin', stdin=pack)
    lost = [oid for oid in source.kept if not _restore(remote, scratch, oid)]
    git(scratch, 'pack-refs', '--all')
    return tuple(
        f'{remote.address.shown} has lost what {oid} rests on, which an evicted clone had kept'
        for oid in lost
    )


def location_of(git_dir: Path) -> str | None:
    """Where an evicted clone can be had again; None if none was evicted."""
    source = _read(git_dir)
    return source.location if source else None


def discard(git_dir: Path) -> None:
    """A clone that is there has no tombstone."""
    shutil.rmtree(_folder(git_dir), ignore_errors=True)


def _restore(remote: Remote, git_dir: Path, oid: str) -> bool:
    """Keep a commit again if its whole past is there, or still to be had by its id."""
    past = ('rev-list', '--objects', '--quiet', oid, '--not', '--all')
    if run(git_dir, *past, environment=ENVIRONMENT).returncode == 0:
        git(git_dir, 'update-ref', f'{KEPT}{oid}', oid)
        return True
    try:
        remote.bring(git_dir, f'+{oid}:{KEPT}{oid}\n')
    except Transient as trouble:
        if 'not our ref' not in str(trouble):
            raise
        return False
    return True


def _pack(git_dir: Path, path: Path, revs: Collection[str]) -> None:
    with tempfile.TemporaryFile() as asked, path.open('wb') as pack:
        asked.write(''.join(f'{rev}\n' for rev in revs).encode())
        asked.seek(0)
        stream(git_dir, 'pack-objects', '--revs', '--stdout', '-q', stdin=asked, stdout=pack)
    durable.sync(path)


def _read(git_dir: Path) -> _Source | None:
    file = _folder(git_dir) / _SOURCE
    if not file.exists():
        return None
    found = json.loads(file.read_bytes())
    return _Source(location=found['location'], kept=tuple(found['kept']))


def _folder(git_dir: Path) -> Path:
    return git_dir.with_suffix('.remains')

"""A world that follows files: bare repositories in a folder, and what a state file says of them.

The state is JSON, `{"repositories": [{"full_name": "ada/calculator", "stars": 900}, ...]}`, with the
fields of `Hosted`; a repository of the folder that it does not name has what stands below. A name
of the folder is where its clone lies.
"""

from __future__ import annotations

import json
import subprocess
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.github_server.server import Server
from tests.github_server.world import Hosted, World
from tests.repos import CLEAN


@dataclass(slots=True, kw_only=True)
class LiveServer(Server):
    """Reads the folder and the state file before each request: a push is seen at once."""

    state: Path | None = None

    def refresh(self) -> None:
        said = {one.pop('full_name'): one for one in self._said()}
        names = sorted({*said, *self._cloned()})
        self.world.repositories = {
            one.id: one for one in (self._hosted(name, said.get(name, {})) for name in names)
        }

    def _said(self) -> list[dict[str, Any]]:
        if self.state is None or not self.state.is_file():
            return []
        found: list[dict[str, Any]] = json.loads(self.state.read_text())['repositories']
        return found

    def _cloned(self) -> list[str]:
        if self.repositories is None:
            return []
        found = self.repositories.glob('*/*.git')
        return [str(path.relative_to(self.repositories)).removesuffix('.git') for path in found]

    def _hosted(self, full_name: str, said: dict[str, Any]) -> Hosted:
        owner, _, name = full_name.partition('/')
        known: dict[str, Any] = {'id': zlib.crc32(full_name.encode()), 'owner': owner, 'name': name}
        clone = self.repositories / f'{full_name}.git' if self.repositories is not None else None
        if clone is not None and clone.is_dir():
            known |= _of_clone(clone)
        return Hosted(**{**known, **_plain(said)})


def _plain(said: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in said.items()
    }


def _of_clone(clone: Path) -> dict[str, Any]:
    """What Git knows: the default branch, its root and its last commit."""
    branch = _git(clone, 'symbolic-ref', '--short', 'HEAD')
    dates = _git(clone, 'for-each-ref', '--format=%(committerdate:unix)', 'refs/heads')
    if not dates:
        return {'default_branch': branch, 'files': ()}
    newest = max(int(line) for line in dates.splitlines())
    pushed_at = datetime.fromtimestamp(newest, tz=UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
    people = _git(clone, 'shortlog', '-se', 'HEAD').splitlines()
    files = tuple(_git(clone, 'ls-tree', '--name-only', 'HEAD').splitlines())
    return {
        'default_branch': branch,
        'files': files,
        'language': 'Toy' if 'toy.build' in files else 'Java',
        'pushed_at': pushed_at,
        'updated_at': pushed_at,
        'contributors': len(people),
    }


def _git(clone: Path, *arguments: str) -> str:
    command = ['git', '-C', str(clone), *arguments]
    return subprocess.run(
        command, capture_output=True, env=CLEAN, check=True, text=True
    ).stdout.strip()


def live(repositories: Path | None, state: Path | None) -> LiveServer:
    return LiveServer(world=World(), repositories=repositories, state=state)

"""The image on which the verifiers of a data set are made: coevo, the snapshot and the clones.

`verifier/` is the context of its build. The clones hold the two revisions of each task and nothing
else, so that the grader needs no network. Nothing of it reaches an agent.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import coevo
from coevo.git.process import STEADY_PACK, run_git
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.snapshots.local_copy import open_local_copy
from coevo.storage.clone_folders import locate_clone

_DOCKERFILE = """\
ARG BASE=debian:trixie
FROM ${BASE}
RUN apt-get update \\
    && apt-get install -y --no-install-recommends \\
        bubblewrap ca-certificates default-jdk-headless gcc git golang-go libc6-dev libfaketime \\
        maven python3 python3-venv \\
    && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /coevo/requirements.txt
RUN python3 -m venv /coevo/venv && /coevo/venv/bin/pip install --no-cache-dir -r /coevo/requirements.txt
COPY coevo /coevo/coevo
COPY snapshot /coevo/snapshot
COPY store /coevo/store
ENV PATH=/coevo/venv/bin:$PATH PYTHONPATH=/coevo COEVO_CACHE=/var/cache/coevo
# Root of a container lacks the capabilities to look into a sandbox of another user.
RUN useradd --create-home coevo \\
    && mkdir -p /var/cache/coevo /coevo/answers \\
    && chown coevo /var/cache/coevo /coevo/answers
USER coevo
"""


def name_image(snapshot_sha256: str) -> str:
    """Return the name of the image of a snapshot's verifiers."""
    return f'coevo-verifier:{snapshot_sha256[:12]}'


def write_verifier(folder: Path, place: Path | str) -> None:
    """Write the Dockerfile, coevo itself, what it requires, and a copy of the snapshot.

    folder  an existing folder
    """
    (folder / 'Dockerfile').write_text(_DOCKERFILE)
    (folder / 'requirements.txt').write_text(''.join(f'{line}\n' for line in list_requirements()))
    package = Path(coevo.__file__).parent
    ignored = shutil.ignore_patterns('__pycache__', '*.pyc')
    shutil.copytree(package, folder / 'coevo', ignore=ignored)
    with open_local_copy(place) as snapshot:
        shutil.copytree(snapshot, folder / 'snapshot')


def list_requirements() -> tuple[str, ...]:
    """Return what coevo and its extra `evaluate` require, as its package says.

    Raises: Fatal if coevo is not installed as a package.
    """
    try:
        lines = requires('coevo') or []
    except PackageNotFoundError:
        raise Fatal('coevo is not installed as a package; run `make setup` in its clone') from None
    requirements = []
    for line in lines:
        requirement, _, condition = line.partition(';')
        if condition.strip() in ('', "extra == 'evaluate'", 'extra == "evaluate"'):
            requirements.append(requirement.strip())
    return tuple(sorted(set(requirements)))


def write_clone(store: Path, repo: str, repository: Repository, revs: Iterable[str]) -> None:
    """Write a clone into a store that has these commits with their files, without their history."""
    wanted = sorted(set(revs))
    listing = repository.run_command(
        'rev-list', '--objects', '--no-object-names', '--no-walk', *wanted
    )
    objects = b''.join(sorted(set(listing.splitlines(keepends=True))))
    git_dir = locate_clone(store, repo)
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    run_git(
        git_dir, 'init', '--quiet', '--bare', '--template=', '--initial-branch=main', str(git_dir)
    )
    run_git(
        git_dir, 'index-pack', '--stdin', stdin=repository.run_command(*STEADY_PACK, stdin=objects)
    )
    (git_dir / 'shallow').write_text(''.join(f'{rev}\n' for rev in wanted))

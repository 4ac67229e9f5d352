"""`--format harbor`: a data set of task folders for Harbor, and the image of its verifiers.

tasks/TASK_ID/  the folder of a task (`task_folders`), for `harbor run -p DIR/tasks`
verifier/       the context of the image on which the verifiers are made (`verifier_image`)

An agent's container gets nothing but `environment/`, which holds neither gold nor the snapshot. Its
test file is all that is carried into the verifier's container, which is made from an image of its
own. So no reward can be written, and no grader be changed, by an agent.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import coevo
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.reporting.cells import pluralise
from coevo.exports.harbor.task_folders import TaskFolders
from coevo.exports.selection import (
    Omissions,
    Selection,
    load_task_texts,
    open_repositories_with_tasks,
    refuse_empty_export,
    select_tasks,
)
from coevo.git.process import STEADY_PACK, run_git
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.task_rows import TaskRow
from coevo.snapshots.local_copy import open_local_copy
from coevo.storage.clone_folders import locate_clone

# The image on which the verifiers of a data set are made: coevo, the snapshot and the clones.
#
# `verifier/` is the context of its build. The clones hold the two revisions of each task and
# nothing else, so that the grader needs no network. Nothing of it reaches an agent.

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


def write_dataset(
    folder: Path,
    selection: Selection,
    release: Mapping[str, str | None],
    omissions: Omissions,
    images: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Write the data set into a folder, and yield sentences about it.

    images  names of the images of agents by task; None if Harbor builds them

    Raises: Fatal if no task is left.
    """
    tasks, verifier = folder / 'tasks', folder / 'verifier'
    image = name_image(str(release['snapshot_sha256']))
    count = 0
    for path in (tasks, verifier):
        path.mkdir()
    for repository, of_repository in open_repositories_with_tasks(
        select_tasks(selection), selection.clones, omissions
    ):
        with tempfile.TemporaryDirectory(prefix='coevo-export-') as scratch:
            states = StartStates(repository, Path(scratch) / 'states')
            folders = TaskFolders(
                root=tasks,
                scratch=Path(scratch) / 'trees',
                verifier=image,
                release=release,
                omissions=omissions,
                images=images,
            )
            written: list[TaskRow] = []
            for assignment in of_repository:
                texts = load_task_texts(repository, assignment, omissions)
                if texts is not None and folders.write(states, texts):
                    written.append(assignment.task)
        if written:
            revs = [rev for task in written for rev in (task.old_rev, task.new_rev)]
            write_clone(verifier / 'store', written[0].repo, repository, revs)
        count += len(written)
    refuse_empty_export(count, omissions)
    write_verifier(verifier, selection.snapshot)
    yield f'tasks: {pluralise(count, "folder")}'
    yield f'verifier: build it first, with the name {image}'

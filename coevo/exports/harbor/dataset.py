"""`--format harbor`: a data set of task folders for Harbor, and the image of its verifiers.

tasks/TASK_ID/  the folder of a task (`task_folders`), for `harbor run -p DIR/tasks`
verifier/       the context of the image on which the verifiers are made (`verifier_image`)

An agent's container gets nothing but `environment/`, which holds neither gold nor the snapshot. Its
test file is all that is carried into the verifier's container, which is made from an image of its
own. So no reward can be written, and no grader be changed, by an agent.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import coevo
from coevo.evaluation.assignments import was_gold_written
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.reporting.cells import pluralise
from coevo.exports.harbor.images import (
    IMAGES,
    WORK_FOLDER,
    choose_base_image,
    make_image_files,
    write_start_archive,
)
from coevo.exports.selection import (
    LeftOut,
    Omissions,
    Selection,
    TaskTexts,
    commit_start,
    describe_task,
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
from coevo.storage.beneath import SafePath, join_beneath
from coevo.storage.clone_folders import locate_clone

# The folder of a task as Harbor reads it.
#
# task.toml         limits and metadata; the agent's container has no network; the verifier has a
#                   container of its own, which gets the test file alone or, where code is asked
#                   for, the folder `/app`
# instruction.md    the prompt of the task, as any agent gets it
# environment/      the image of the agent: the start state in `/app`, a repository of one commit
# tests/            the image of the verifier, on that of the data set: `test.sh` runs coevo's grader
# solution/         the developers' test file or patch, and the script that puts it in place

AGENT_SECONDS, VERIFIER_SECONDS, BUILD_SECONDS = 3600.0, 3600.0, 3600.0

_SCHEMA = '1.4'

_TESTS_DOCKERFILE = """\
ARG BASE={base}
FROM ${{BASE}}
COPY . /tests
"""
_WARM = """\
# With the network: it grades gold, and so brings all libraries here. It fails if gold cannot be graded.
RUN python3 -m coevo.exports.harbor.grading warm /tests/task.json
"""
_TEST_SCRIPT = """\
#!/bin/sh
exec python3 -m coevo.exports.harbor.grading grade /tests/task.json
"""
# bubblewrap makes namespaces, which the defaults of Docker forbid.
_COMPOSE = """\
services:
  main:
    security_opt: [seccomp=unconfined, apparmor=unconfined, systempaths=unconfined]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFolders:
    """The place of task folders, and the parts that all of them share.

    root           the folder `tasks` of the data set
    scratch        a folder for start states
    verifier       the name of the image on which those of the verifiers are made
    release        what `describe_release` returned
    images         names of images by task, as `coevo images` builds them; None if Harbor builds
                   the images of agents
    """

    root: Path
    scratch: Path
    verifier: str
    release: Mapping[str, str | None]
    omissions: Omissions
    images: Mapping[str, str] | None = None

    def write(self, states: StartStates, texts: TaskTexts) -> bool:
        """Write the folder of a task; return whether there is one.

        Tasks without gold, a known environment or an image are counted as left out.
        """
        task = texts.task
        if not was_gold_written(task):
            self.omissions.add(LeftOut.NO_GOLD)
            return False
        if task.environment is None:
            self.omissions.add(LeftOut.NO_ENVIRONMENT)
            return False
        folder = join_beneath(self.root, task.task_id)
        if self.images is not None:
            return self._write_with_image(folder, texts, self.images.get(task.task_id))
        base = choose_base_image(task.language, task.environment)
        if base is None:
            self.omissions.add(LeftOut.NO_IMAGE)
            return False
        commit = commit_start(states, texts, self.omissions)
        if commit is None:
            return False
        seconds = max(0, states.source.header(task.new_rev).committer_seconds or 0)
        environment = make_image_files(task.language, base, task.environment, f'@{seconds} +0000')
        for name, text in environment.items():
            _write(folder.join_below(f'environment/{name}'), text)
        archive = folder.join_below('environment/start.tar').make_parents_and_get_path()
        scratch = join_beneath(self.scratch, task.task_id).path
        write_start_archive(states.repository, commit, scratch, archive, seconds)
        self._write_shared_files(folder, texts)
        return True

    def _write_with_image(self, folder: SafePath, texts: TaskTexts, image: str | None) -> bool:
        """Write the folder of a task whose image is there already; return whether there is one."""
        if image is None:
            self.omissions.add(LeftOut.NOT_BUILT)
            return False
        _write(folder.join_below('environment/Dockerfile'), f'FROM {image}\n')
        self._write_shared_files(folder, texts, image)
        return True

    def _write_shared_files(
        self, folder: SafePath, texts: TaskTexts, image: str | None = None
    ) -> None:
        file = _get_answer_path_in_container(texts)
        _write(folder.join_below('instruction.md'), texts.task.prompt or '')
        _write(folder.join_below('task.toml'), render_task_toml(texts, self.release, image))
        is_warm = IMAGES[texts.task.language].is_warm
        dockerfile = _TESTS_DOCKERFILE.format(base=self.verifier) + (_WARM if is_warm else '')
        _write(folder.join_below('tests/Dockerfile'), dockerfile)
        _write(folder.join_below('tests/docker-compose.yaml'), _COMPOSE)
        _write(folder.join_below('tests/test.sh'), _TEST_SCRIPT, 0o755)
        about = {'task_id': texts.task.task_id, 'test_file': file, 'offline': is_warm}
        if texts.task.asks_for_code:
            about['is_code'] = True
        _write(folder.join_below('tests/task.json'), json.dumps(about, indent=1) + '\n')
        _write(folder.join_below('solution/solve.sh'), _make_solve_script(file, texts), 0o755)
        if texts.task.asks_for_code:
            _write(folder.join_below('solution/gold.patch'), texts.task.gold_patch)
        elif texts.gold is not None:
            folder.join_below('solution/gold').create_file(texts.gold)


def _write(path: SafePath, text: str, mode: int = 0o644) -> None:
    path.create_file(text.encode('utf-8', 'surrogateescape'), mode)


def _get_answer_path_in_container(texts: TaskTexts) -> str:
    """Return the path that is carried to the verifier: the test file, or the folder of the code."""
    return WORK_FOLDER if texts.task.asks_for_code else f'{WORK_FOLDER}/{texts.task.test_file}'


def _make_solve_script(file: str, texts: TaskTexts) -> str:
    """Return the script that Harbor's oracle runs: it puts gold in its place."""
    if texts.task.asks_for_code:
        return (
            f'#!/bin/sh\ncd {WORK_FOLDER} && git apply --whitespace=nowarn /solution/gold.patch\n'
        )
    target = shlex.quote(file)
    if texts.gold is None:
        return f'#!/bin/sh\nrm -f {target}\n'
    parent = shlex.quote(file.rpartition('/')[0])
    return f'#!/bin/sh\nmkdir -p {parent} && cp /solution/gold {target}\n'


def render_task_toml(
    texts: TaskTexts, release: Mapping[str, str | None], image: str | None = None
) -> str:
    """Return the text of `task.toml`.

    image  the name of the agent's image; None if Harbor builds it
    """
    task = texts.task
    metadata = describe_task(task, release)
    words = [str(metadata[name]) for name in ('language', 'track', 'family')]
    limits = {'cpus': 2, 'memory_mb': 8192, 'build_timeout_sec': BUILD_SECONDS}
    # With the network the grader gets libraries; the sandbox of the submitted test has none.
    network = 'no-network' if IMAGES[task.language].is_warm else 'public'
    tables: dict[str, dict[str, object]] = {
        '': {
            'schema_version': _SCHEMA,
            'artifacts': [_get_answer_path_in_container(texts)],
        },
        'task': {'name': f'coevo/{task.task_id}', 'keywords': list(dict.fromkeys(words))},
        'metadata': metadata,
        'agent': {'timeout_sec': AGENT_SECONDS},
        'environment': {'docker_image': image, 'network_mode': 'no-network', **limits},
        'verifier': {'timeout_sec': VERIFIER_SECONDS, 'environment_mode': 'separate'},
        'verifier.environment': {'network_mode': network, **limits},
    }
    return '\n'.join(_render_table(name, values) for name, values in tables.items())


def _render_table(name: str, values: Mapping[str, object]) -> str:
    head = [f'[{name}]'] if name else []
    return '\n'.join([*head, *_render_values(values)]) + '\n'


def _render_values(values: Mapping[str, object]) -> Iterator[str]:
    """Yield a line for each value; TOML has no null, so what is unknown is left out."""
    for key, value in values.items():
        if value is not None:
            yield f'{key} = {_render_value(value)}'


def _render_value(value: object) -> str:
    if isinstance(value, list):
        return f'[{", ".join(map(_render_value, value))}]'
    # A string of JSON is one of TOML, but for DEL and for surrogates, which no column can hold.
    return json.dumps(value, ensure_ascii=False).replace('\x7f', '\\u007f')


# `--format harbor`: a data set of task folders for Harbor, and the image of its verifiers.

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

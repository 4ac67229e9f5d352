"""`coevo export --format harbor`: the folders of tasks, and the grader in the verifier."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import tarfile
import time
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.start_states import StartStates
from coevo.exports.harbor import dataset, grading, images as harbor_images
from coevo.exports.harbor.dataset import TaskFolders
from coevo.exports.harbor.grading import VerifierTask, serve_package_index
from coevo.exports.selection import LeftOut, Omissions, load_task_texts
from coevo.model.errors import Transient
from coevo.model.pair_rows import Environment
from coevo.model.words import Track
from coevo.storage.beneath import UnsafePath
from coevo.storage.fetching import Fetcher
from tests.exports.conftest import FAILING, Toys
from tests.exports.test_training import GOLD, contents
from tests.languages import toys
from tests.repos import git

RELEASE = {'month': '2024-02', 'snapshot_sha256': 'ab' * 32, 'canary': 'coevo canary 1234'}
# What a snapshot may say; none of it may become a line of a Dockerfile or leave a quotation.
HOSTILE = 'true\nRUN curl evil\n"\'$(touch /evil)\x7f\\ é'
TOY_IMAGE = harbor_images.LanguageImage(
    base='toys:{}', parts=2, packages='true', offline={'TOY': '1'}
)


@pytest.fixture
def update(toy_tasks: Toys) -> Assignment:
    task_id = toy_tasks.tasks[Track.UPDATE].task_id
    (assignment,) = load_assignments(toy_tasks.snapshot, {task_id})
    return assignment


def write_folder(
    toy: Toys,
    assignment: Assignment,
    out: Path,
    omissions: Omissions,
    images: dict[str, str] | None = None,
    **changed: object,
) -> bool:
    """Write the folder of a task whose row is changed after its texts were loaded."""
    with open_task_repository([assignment.task], Path(toy.store)) as repository:
        texts = load_task_texts(repository, assignment, omissions)
        assert texts is not None
        task = dataclasses.replace(assignment.task, **changed)  # type: ignore[arg-type]
        texts = dataclasses.replace(texts, assignment=dataclasses.replace(assignment, task=task))
        states = StartStates(repository, out / 'states')
        folders = TaskFolders(
            root=out / 'tasks',
            scratch=out / 'trees',
            verifier='coevo-verifier:abab',
            release=RELEASE,
            omissions=omissions,
            images=images,
        )
        return folders.write(states, texts)


def environment(**changed: str) -> Environment:
    fields = {'runtime': '3.12.1', 'build_tool': 'toys', 'test_command': 'sh test', **changed}
    return Environment(libraries=(), **fields)  # type: ignore[arg-type]


@pytest.fixture
def folder(
    toy_tasks: Toys, update: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setitem(harbor_images.IMAGES, 'toy', TOY_IMAGE)  # type: ignore[arg-type]
    hostile = environment(compile_command=HOSTILE)
    assert write_folder(
        toy_tasks, update, tmp_path, Omissions(), environment=hostile, prompt=HOSTILE, url=HOSTILE
    )
    return tmp_path / 'tasks' / update.task_id


def test_settings_keep_agent_and_grader_apart(folder: Path, update: Assignment) -> None:
    settings = tomllib.loads((folder / 'task.toml').read_text())
    assert settings['environment']['network_mode'] == 'no-network'
    assert settings['verifier']['environment_mode'] == 'separate'
    assert settings['verifier']['environment']['network_mode'] == 'no-network'
    assert settings['artifacts'] == ['/app/test_till.toy']
    assert settings['task']['name'] == f'coevo/{update.task_id}'
    assert settings['metadata']['contamination_date'] == '2024-02-01T00:00:00Z'
    assert settings['metadata']['canary'] == 'coevo canary 1234'
    assert settings['metadata']['url'] == HOSTILE
    assert (folder / 'instruction.md').read_text() == HOSTILE


def test_agents_image_holds_the_start_state_and_no_gold(folder: Path) -> None:
    files = contents(folder / 'environment')
    assert not any(b'sells: is Till.price 2' in content for content in files.values())
    with tarfile.open(folder / 'environment/start.tar') as tar:
        tests = tar.extractfile('test_till.toy')
        assert tests is not None
        assert b'sells: is Till.price 1' in tests.read()
        assert {(entry.uid, entry.mtime) for entry in tar} == {(0, 1706745600)}
    assert files['compile.sh'].decode() == f'{HOSTILE}\n'
    dockerfile = files['Dockerfile'].decode()
    assert dockerfile.startswith('ARG BASE=toys:3.12\n')
    assert 'evil' not in dockerfile + files['commit.sh'].decode()


def test_task_with_an_image_of_its_own_is_not_built(
    toy_tasks: Toys, update: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(harbor_images.IMAGES, 'toy', TOY_IMAGE)  # type: ignore[arg-type]
    omissions, name = Omissions(), 'registry.test/tasks:1'
    for folder, images in (('1', {update.task_id: name}), ('2', {})):
        write_folder(
            toy_tasks, update, tmp_path / folder, omissions, images, environment=environment()
        )
    settings = tomllib.loads((tmp_path / '1/tasks' / update.task_id / 'task.toml').read_text())
    assert settings['environment']['docker_image'] == name
    files = contents(tmp_path / '1/tasks' / update.task_id / 'environment')
    assert files == {'Dockerfile': f'FROM {name}\n'.encode()}
    assert omissions.counts == {LeftOut.NOT_BUILT: 1}
    assert not (tmp_path / '2/tasks').exists()


def test_solution_puts_gold_in_its_place(folder: Path, tmp_path: Path) -> None:
    assert (folder / 'solution/gold').read_text() == GOLD
    script = (folder / 'solution/solve.sh').read_text()
    placed = script.replace('/app', f'{tmp_path}/app').replace('/solution', f'{folder}/solution')
    subprocess.run(['sh', '-c', placed], check=True)
    assert (tmp_path / 'app/test_till.toy').read_text() == GOLD
    assert os.access(folder / 'tests/test.sh', os.X_OK)


@pytest.mark.parametrize('task_id', ['../evil', '/evil', 'a/../../evil', ''])
def test_hostile_id_becomes_no_path(
    task_id: str,
    toy_tasks: Toys,
    update: Assignment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(harbor_images.IMAGES, 'toy', TOY_IMAGE)  # type: ignore[arg-type]
    with pytest.raises(UnsafePath):
        write_folder_of_id(toy_tasks, update, tmp_path / 'in', task_id)
    assert [path.name for path in tmp_path.iterdir()] == ['in']
    assert not list(tmp_path.rglob('*evil*'))
    assert not list(tmp_path.rglob('task.toml'))


def write_folder_of_id(toy: Toys, assignment: Assignment, out: Path, task_id: str) -> None:
    """The start state is that of a good id, since Git refuses the others by itself."""
    good = assignment.task.task_id

    class States(StartStates):
        def commit(self, task: object, start: bytes | None) -> str:
            return super().commit(dataclasses.replace(assignment.task, task_id=good), start)

    with open_task_repository([assignment.task], Path(toy.store)) as repository:
        omissions = Omissions()
        texts = load_task_texts(repository, assignment, omissions)
        assert texts is not None
        task = dataclasses.replace(assignment.task, task_id=task_id, environment=environment())
        folders = TaskFolders(
            root=out / 'tasks',
            scratch=out / 'trees',
            verifier='v',
            release=RELEASE,
            omissions=omissions,
        )
        renamed = dataclasses.replace(assignment, task=task)
        folders.write(
            States(repository, out / 'states'), dataclasses.replace(texts, assignment=renamed)
        )


def test_task_without_environment_or_image_is_counted(
    toy_tasks: Toys, update: Assignment, tmp_path: Path
) -> None:
    omissions = Omissions()
    assert not write_folder(toy_tasks, update, tmp_path / '1', omissions, environment=None)
    assert not write_folder(toy_tasks, update, tmp_path / '2', omissions, environment=environment())
    assert omissions.counts == {LeftOut.NO_ENVIRONMENT: 1, LeftOut.NO_IMAGE: 1}


@pytest.mark.parametrize(
    ('language', 'runtime', 'base'),
    [
        ('java', '21.0.13.0.3', 'maven:3-eclipse-temurin-21'),
        ('python', '3.13.0', 'python:3.13'),
        ('go', '1.26.8', 'golang:1.26.8'),
        ('go', '1.26; RUN evil', 'golang:1.26'),
        ('go', 'RUN evil', None),
        ('cobol', '85', None),
    ],
)
def test_base_of_an_image_is_named_by_language_and_version(
    language: str, runtime: str, base: str | None
) -> None:
    assert harbor_images.choose_base_image(language, environment(runtime=runtime)) == base


def test_verifiers_clone_has_both_revisions_and_the_same_bytes(
    toy_tasks: Toys, update: Assignment, tmp_path: Path
) -> None:
    task = update.task
    with open_task_repository([task], Path(toy_tasks.store)) as repository:
        for name in ('1', '2'):
            revs = [task.new_rev, task.old_rev, task.new_rev]
            dataset.write_clone(tmp_path / name, task.repo, repository, revs)
    assert contents(tmp_path / '1') == contents(tmp_path / '2')
    (clone,) = (tmp_path / '1/clones').iterdir()
    for rev in (task.old_rev, task.new_rev):
        assert git(clone, 'show', f'{rev}:till.toy').startswith('[shop.Till]')
    git(clone, 'fsck', '--full')


def test_verifier_grades_as_an_ordinary_user(toy_tasks: Toys, tmp_path: Path) -> None:
    dataset.write_verifier(tmp_path, toy_tasks.snapshot)
    lines = (tmp_path / 'Dockerfile').read_text().splitlines()
    assert lines[-1] == 'USER coevo'


# -- the grader -----------------------------------------------------------------------------------


@pytest.fixture
def verifier(toy_tasks: Toys, update: Assignment, tmp_path: Path) -> VerifierTask:
    return VerifierTask(
        task_id=update.task_id,
        test_file=str(tmp_path / 'app/test_till.toy'),
        snapshot=toy_tasks.snapshot,
        store=toy_tasks.store,
        rewards=str(tmp_path / 'rewards'),
        answers=str(tmp_path / 'answers'),
        port=0,
    )


def graded(task: VerifierTask, folder: Path) -> dict[str, float]:
    """What the verifier's script leaves for Harbor."""
    (folder / 'task.json').write_text(json.dumps(dataclasses.asdict(task)))
    assert grading.main(['grade', str(folder / 'task.json')]) == 0
    rewards: dict[str, float] = json.loads((Path(task.rewards) / 'reward.json').read_text())
    return rewards


def submit(task: VerifierTask, text: str) -> None:
    Path(task.test_file).parent.mkdir()
    Path(task.test_file).write_text(text)


def test_gold_is_rewarded_by_name(verifier: VerifierTask, tmp_path: Path) -> None:
    submit(verifier, GOLD)
    rewards = graded(verifier, tmp_path)
    assert (rewards['reward'], rewards['success'], rewards['mutants']) == (1, 1, 1)
    assert rewards.keys() <= {'reward', 'success', 'strict', 'coverage', 'mutants'}


def test_failing_test_has_no_reward_but_a_reason(verifier: VerifierTask, tmp_path: Path) -> None:
    submit(verifier, toys.tests('Till', f'sells: {FAILING}')['test_till.toy'])
    assert set(graded(verifier, tmp_path).values()) == {0}
    ((reason),) = json.loads((tmp_path / 'rewards/reasons.json').read_text())
    assert reason['outcome'] == 'exec_fail'


@pytest.mark.sampled(2)
@pytest.mark.parametrize('kind', ['nothing', 'folder', 'link', 'pipe'])
def test_what_is_no_regular_file_is_no_answer(
    kind: str, verifier: VerifierTask, tmp_path: Path
) -> None:
    path = Path(verifier.test_file)
    path.parent.mkdir()
    (tmp_path / 'gold').write_text(GOLD)
    if kind == 'link':
        path.symlink_to(tmp_path / 'gold')
    elif kind == 'folder':
        path.mkdir()
    elif kind == 'pipe':
        os.mkfifo(path)
    assert set(graded(verifier, tmp_path).values()) == {0}


def test_trouble_is_no_reward(
    verifier: VerifierTask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(verifier, f'{GOLD}more: is Till.price 2\n')  # the results of gold are kept
    lost = dataclasses.replace(verifier, store=str(tmp_path / 'no store'))
    assert grading.grade(lost) == grading.TROUBLE
    assert 'has no address to clone from' in capsys.readouterr().err
    assert not (tmp_path / 'rewards').exists()


def test_verifier_without_an_action_says_what_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert grading.main(['grade']) == 2
    assert 'name an action' in capsys.readouterr().err


# -- kept answers of registries -------------------------------------------------------------------


class _Registry(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = b'<a href="six-1.0.whl">six</a>' if self.path == '/simple/six/' else b''
        self.send_response(200 if content else 404)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *words: object) -> None: ...


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(('127.0.0.1', 0), _Registry) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f'http://127.0.0.1:{server.server_port}'
        monkeypatch.setenv('UV_DEFAULT_INDEX', f'{address}/simple')
        yield server
        server.shutdown()


def ask(path: str) -> tuple[int, bytes]:
    url = os.environ['UV_DEFAULT_INDEX'] + path
    answer = Fetcher(tries=1).fetch(url, most_bytes=1000, seconds=10)
    return answer.status, answer.content


def test_answers_are_given_again_without_the_registry(
    registry: ThreadingHTTPServer, tmp_path: Path
) -> None:
    asked = ['/six/', '/seven/']
    with serve_package_index(tmp_path, offline=False, port=0):
        kept = [ask(path) for path in asked]
    assert [status for status, _ in kept] == [200, 404]
    registry.shutdown()
    registry.server_close()
    with serve_package_index(tmp_path, offline=True, port=0):
        assert [ask(path) for path in asked] == kept


def test_builds_that_share_a_port_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = socket.create_server(('127.0.0.1', 0))
    port = other.getsockname()[1]
    monkeypatch.setattr(time, 'sleep', lambda seconds: other.close())  # the other build ends
    with other, serve_package_index(tmp_path, offline=True, port=port):
        assert os.environ['UV_DEFAULT_INDEX'] == f'http://127.0.0.1:{port}'


def test_unknown_request_is_trouble_and_no_answer(
    registry: ThreadingHTTPServer, tmp_path: Path
) -> None:
    with serve_package_index(tmp_path, offline=True, port=0), pytest.raises(Transient):
        ask('/six/')
    assert os.environ['UV_DEFAULT_INDEX'].endswith('/simple')

"""The program of the verifier's container: coevo's grader for one task, given the test file or the
folder with code that an agent left.

    python3 -m coevo.exports.harbor.grading grade TASK.JSON
    python3 -m coevo.exports.harbor.grading warm TASK.JSON

`grade` writes `reward.json` with `reward` (the same as `success`), `success`, `strict`, `coverage`
and `mutants`, and `reasons.json` beside it. A reward that is unknown is left out; Harbor's means
count it as 0. Without a regular test file all are 0. The submitted test runs in coevo's sandbox,
which has neither the network nor the folder of the rewards. If coevo itself fails, there is no
`reward.json`, the status is 3, and Harbor reports an error rather than a reward.

`warm` grades the developers' own patch while the image is built, when there is a network, so that
all libraries are there later. It runs without a sandbox, since a build may make no namespaces; what
it runs is the developers' code alone. coevo runs Go in a sandbox alone: its tasks are not warmed,
and their verifiers have the network, which the sandbox of a test never has.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from coevo.agents.difference import PLAIN, Ends, GitFile, make_patch
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.evaluation import Evaluation, describe_trouble, evaluate
from coevo.evaluation.implement.patches import StartCode, open_start_code
from coevo.evaluation.judging.application import MOST_BYTES
from coevo.evaluation.judging.start_states import StartStates, restore_start_file
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.suites.records import SuiteResult
from coevo.exports.attempts import UNKNOWN, Rewards, compute_rewards, compute_suite_rewards
from coevo.model.errors import Fatal, Transient
from coevo.sandboxes.names import BUBBLEWRAP, NONE
from coevo.storage import durable
from coevo.storage.durable import load_checksummed_removing_damaged, write_checksummed
from coevo.storage.fetching import FetchAnswer, Fetcher

# A server on this machine that keeps the answers of a Python index, and gives them again.
#
# coevo keeps the files of libraries in its tool cache, but asks for the pages of a Python index,
# which name them, anew. A verifier has no network. So these are asked through this server: while
# the image is built it passes each request on and keeps the answer, and later it answers by what it
# kept. What it never saw gets status 503, which coevo takes as trouble, never as a verdict.

# The address is a part of what stored environments are known by: it is the same at each start.
PORT = 18_451

_MOST_BYTES, _SECONDS = 512 << 20, 900.0
# Files that the tool cache keeps.
_KEPT_ELSEWHERE = ('.zip', '.whl', '.tar.gz')
_NOT_KEPT = 503

# Builds of images that have the network of their machine have its ports, too, and wait for each other.
_PORT_SECONDS, _POLL_SECONDS = 3600.0, 0.5

_INDEX = 'UV_DEFAULT_INDEX'
_EMITTED = re.compile(r'^--index-url (\S+)$', re.MULTILINE)


@contextmanager
def serve_package_index(folder: Path, *, offline: bool, port: int = PORT) -> Iterator[None]:
    """Let coevo ask for Python's packages through a server that keeps answers in a folder.

    offline  whether requests are answered by what the folder has, and none is passed on

    Raises: Transient if another process keeps the port.
    """
    upstream = '' if offline else find_package_index()
    handler = partial(_AnswerHandler, upstream, folder, None if offline else Fetcher())
    folder.mkdir(parents=True, exist_ok=True)
    with _open_server(port, handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with _set_environment_variable(_INDEX, f'http://127.0.0.1:{server.server_port}'):
                yield
        finally:
            server.shutdown()
            thread.join()


def _open_server(port: int, handler: Callable[..., BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    """Return a server at a port; wait as long as another process has it."""
    deadline = time.monotonic() + _PORT_SECONDS
    while True:
        try:
            return ThreadingHTTPServer(('127.0.0.1', port), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            if time.monotonic() > deadline:
                raise Transient(f'another process keeps port {port} of this machine') from None
        time.sleep(_POLL_SECONDS)


def find_package_index() -> str:
    """Return the address of the index that this machine's uv asks first.

    Raises: Transient if uv names none.
    """
    words = ('pip', 'compile', '-', '--emit-index-url', '--no-header', '--quiet')
    done = subprocess.run(
        [sys.executable, '-m', 'uv', *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    emitted = _EMITTED.search(done.stdout)
    if emitted is None:
        raise Transient(f'uv names no package index: {done.stderr.strip()[-200:]}')
    return emitted[1].rstrip('/')


@contextmanager
def _set_environment_variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name)
        else:
            os.environ[name] = before


class _AnswerHandler(BaseHTTPRequestHandler):
    """Answers one request; `fetcher` is None where nothing is passed on."""

    def __init__(
        self,
        upstream: str,
        folder: Path,
        fetcher: Fetcher | None,
        *connection: object,
    ) -> None:
        self._upstream, self._folder, self._fetcher = upstream, folder, fetcher
        super().__init__(*connection)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer by what was kept, or pass the request on and keep the answer."""
        accept = self.headers.get('Accept') or '*/*'
        key = hashlib.sha256(f'{self.path}\n{accept}'.encode()).hexdigest()
        path = self._folder / key  # own name: a digest
        answer = _load_answer(path) if self._fetcher is None else self._forward_request(accept)
        if answer is None:
            answer = FetchAnswer(status=_NOT_KEPT)
        elif self._fetcher is not None and not self.path.endswith(_KEPT_ELSEWHERE):
            _save_answer(path, answer)
        self.send_response(answer.status)
        self.send_header('Content-Type', answer.headers.get('content-type', ''))
        self.send_header('Content-Length', str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def _forward_request(self, accept: str) -> FetchAnswer | None:
        """Return the answer of the index; None if it does not answer."""
        url = f'{self._upstream}{urlsplit(self.path).path}'
        try:
            assert self._fetcher is not None, 'requests are passed on'
            return self._fetcher.fetch(url, most_bytes=_MOST_BYTES, seconds=_SECONDS, accept=accept)
        except Transient:
            return None

    def log_message(self, format: str, *words: object) -> None:
        """Say nothing: what a verifier prints is about its task."""


def _save_answer(path: Path, answer: FetchAnswer) -> None:
    about = {'status': answer.status, 'type': answer.headers.get('content-type', '')}
    write_checksummed(path, json.dumps(about).encode() + b'\n' + answer.content)


def _load_answer(path: Path) -> FetchAnswer | None:
    data = load_checksummed_removing_damaged(path)
    if data is None:
        return None
    head, _, content = data.partition(b'\n')
    about = json.loads(head)
    return FetchAnswer(
        status=int(about['status']), headers={'content-type': str(about['type'])}, content=content
    )


# The patch of an agent that wrote code, made of the folder that it left.
#
# The folder is an agent's: no link in it is followed, nothing of it is run, and what is read is
# bounded. Only files that a patch may change are compared with the start state.

# Files of the folder that are looked at: a build may have left many.
_MOST_FILES = 200_000
_MOST_IN_ALL = 16 << 20


def make_folder_patch(folder: Path, snapshot: str, store: Path, task_id: str) -> bytes:
    """Return the patch from the start state of a task to the code in a folder.

    Files whose content is larger than a patch may be are left as they are at the start.
    """
    (assignment,) = load_assignments(snapshot, {task_id})
    task = assignment.task
    with (
        tempfile.TemporaryDirectory(prefix='coevo-') as scratch,
        open_task_repository([task], store) as repository,
    ):
        states = StartStates(repository, Path(scratch))
        with closing(states.repository):
            rev = states.commit(task, restore_start_file(repository, task))
            files = dict(_compare_files(folder, open_start_code(states, task, rev)))
    return make_patch(files).encode('utf-8', 'surrogateescape')


def _compare_files(folder: Path, code: StartCode) -> Iterator[tuple[str, Ends]]:
    # A checkout may have written a file with other line ends.
    checked_out = code.repository.load_files_changed_by_checkout(code.rev)
    size, there = 0, set()
    for number, path in enumerate(_list_files(folder)):
        if number == _MOST_FILES:
            return  # what was not looked at stays as it is at the start
        if not code.may_be_patched(path):
            continue
        there.add(path)
        content, start = load_regular_file_up_to_limit(folder / path), _load_start_file(code, path)
        if content is None or len(content) > MOST_BYTES:
            continue
        if start is not None and content in (start.content, checked_out.get(path)):
            continue
        size += len(content)
        if size > _MOST_IN_ALL:
            return
        yield path, (start, GitFile(mode=start.mode if start else PLAIN, content=content))
    for path in code.list_patchable_paths():
        if path not in there:
            yield path, (_load_start_file(code, path), None)


def _load_start_file(code: StartCode, path: str) -> GitFile | None:
    """Return a file of the start state; None if it is absent there."""
    entry = code.tree.entries.get(path)
    if entry is None:
        return None
    return GitFile(mode=entry.mode, content=code.repository.blob(entry.oid))


def _list_files(folder: Path) -> Iterator[str]:
    """Yield the paths of the files of a folder, without Git's own."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != '.git')
        for name in sorted(names):
            yield Path(parent, name).relative_to(folder).as_posix()


def load_regular_file_up_to_limit(path: Path) -> bytes | None:
    """Return the bytes of a regular file; None if there is none, or if it is a link.

    One byte beyond the limit is read, so that the grader refuses a larger file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, 'rb') as file:
        return file.read(MOST_BYTES + 1)


TROUBLE = 3
"""The exit status if nothing could be graded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierTask:
    """The content of `task.json`; all paths are those of the verifier's container.

    test_file  the test file that the agent left; if code was asked for, the folder of its project
    is_code    whether the task asks for code, so that `test_file` is a folder
    snapshot   the snapshot with the task
    store      the store with the clone of its repository
    rewards    the folder that gets `reward.json` and `reasons.json`
    answers    the folder with the answers of registries that were kept while the image was built
    offline    whether grading takes the answers of registries from there, without the network
    port       the port at which these are served
    """

    task_id: str
    test_file: str
    is_code: bool = False
    snapshot: str = '/coevo/snapshot'
    store: str = '/coevo/store'
    rewards: str = '/logs/verifier'
    answers: str = '/coevo/answers'
    offline: bool = True
    port: int = PORT


def main(words: Sequence[str]) -> int:
    """Run one of the two actions and return the exit status."""
    match words:
        case ['grade', file]:
            return grade(VerifierTask(**json.loads(Path(file).read_text('utf-8'))))
        case ['warm', file]:
            return grade_gold(VerifierTask(**json.loads(Path(file).read_text('utf-8'))))
    print('name an action, grade or warm, and a task.json', file=sys.stderr)
    return 2


def grade(task: VerifierTask) -> int:
    """Grade the test file or code of a task, write its rewards, and return the exit status."""
    prediction = _load_prediction(task)
    evaluation = _evaluate(task, (prediction,), BUBBLEWRAP)
    rewards = compute_evaluation_rewards(evaluation) if evaluation else UNKNOWN
    if evaluation is None or rewards.success is None:
        return TROUBLE
    numbers = {name: value for name, value in rewards.to_mapping().items() if value is not None}
    rows: list[MethodResult | SuiteResult] = [*evaluation.rows, *evaluation.suites]
    reasons = [{'outcome': row.outcome, 'detail': row.detail, 'said': row.said} for row in rows]
    folder = Path(task.rewards)  # own name: that of the image
    durable.write_durably(folder / 'reasons.json', [json.dumps(reasons, indent=1).encode(), b'\n'])
    content = json.dumps({'reward': rewards.success, **numbers}).encode()
    durable.write_durably(folder / 'reward.json', [content, b'\n'])
    return 0


def _load_prediction(task: VerifierTask) -> Prediction:
    path = Path(task.test_file)  # own name: that of the image
    if not task.is_code:
        return Prediction(
            task_id=task.task_id, patch=None, file=load_regular_file_up_to_limit(path)
        )
    patch = make_folder_patch(path, task.snapshot, Path(task.store), task.task_id)
    return Prediction(task_id=task.task_id, patch=patch)


def grade_gold(task: VerifierTask) -> int:
    """Grade the developers' own patch, and return 0 if that could be done."""
    evaluation = _evaluate(task, 'gold', NONE)
    if evaluation is None or compute_evaluation_rewards(evaluation).success is None:
        return TROUBLE
    return 0


def compute_evaluation_rewards(evaluation: Evaluation) -> Rewards:
    """Return the rewards of the one attempt of an evaluation."""
    if evaluation.suites:
        return compute_suite_rewards(evaluation.suites[0])
    return compute_rewards(evaluation.rows)


def _evaluate(
    task: VerifierTask, predictions: Sequence[Prediction] | str, sandbox: str
) -> Evaluation | None:
    """Return the evaluation; None, with a sentence on standard error, if there was trouble."""
    options = EvaluationOptions(
        snapshot=task.snapshot,
        predictions='gold' if isinstance(predictions, str) else predictions,
        clones=Path(task.store),
        tasks=frozenset({task.task_id}),
        sandbox=sandbox,
    )
    answers = Path(task.answers)  # own name: that of the image
    try:
        with ExitStack() as stack:
            if task.offline:
                keeping = sandbox == NONE
                stack.enter_context(
                    serve_package_index(answers, offline=not keeping, port=task.port)
                )
            evaluation = evaluate(options)
    except (Fatal, Transient) as error:
        print(f'coevo: {error}', file=sys.stderr)
        return None
    for sentence in describe_trouble(evaluation):
        print(sentence, file=sys.stderr)
    return evaluation


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

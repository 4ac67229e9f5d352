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

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.evaluation import Evaluation, evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.output import describe_trouble
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.suites.records import SuiteResult
from coevo.exports.harbor.answers import PORT, serve_answers
from coevo.exports.harbor.code_submissions import load_submission, make_folder_patch
from coevo.exports.rewards import UNKNOWN, Rewards, compute_rewards, compute_suite_rewards
from coevo.model.errors import Fatal, Transient
from coevo.sandboxes.names import BUBBLEWRAP, NONE
from coevo.storage import durable

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
            return warm(VerifierTask(**json.loads(Path(file).read_text('utf-8'))))
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
    place = Path(task.test_file)  # own name: that of the image
    if not task.is_code:
        return Prediction(task_id=task.task_id, patch=None, file=load_submission(place))
    patch = make_folder_patch(place, task.snapshot, Path(task.store), task.task_id)
    return Prediction(task_id=task.task_id, patch=patch)


def warm(task: VerifierTask) -> int:
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
                stack.enter_context(serve_answers(answers, offline=not keeping, port=task.port))
            evaluation = evaluate(options)
    except (Fatal, Transient) as error:
        print(f'coevo: {error}', file=sys.stderr)
        return None
    for sentence in describe_trouble(evaluation):
        print(sentence, file=sys.stderr)
    return evaluation


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

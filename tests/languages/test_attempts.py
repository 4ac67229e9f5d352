"""Several attempts of an agent at a task of a toy, from the command to the figures of k."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.languages import toys
from tests.projects import QUICK, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

CODE = {**toys.BUILD, **toys.source('Till', 'price: 1', 'tax: 5', 'unused: 7')}
TESTS = toys.tests('Till', 'pays: is Till.price 1', 'taxes: is Till.tax 5')


@pytest.fixture(scope='module')
def made(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and a snapshot of one task, whose test file is absent at the start."""
    folder = tmp_path_factory.mktemp('attempts')
    repository = write(folder / 'repository', [CODE, TESTS])
    profile = replace(QUICK, traces=True, measure_runs=100)
    toys.mined(repository, folder / 'store', walk=Walk.SINGLE_REVISION, profile=profile)
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder


def attempt(made: Path, out: Path, agent: str, *words: str, **values: object) -> int:
    command = ['run', str(made / 'snapshot'), '--store', str(made / 'store')]
    given = settings(made, kit=False, grade=False, **values)
    return main([*command, '--agent', agent, '--out', str(out), *words, *given])


def predictions(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / 'predictions.jsonl').read_text().splitlines()]


def at(made: Path, out: Path, figure: str) -> list[float]:
    """That figure of k, as `coevo evaluate` reports it."""
    command = ['evaluate', str(made / 'snapshot'), str(out / 'predictions.jsonl')]
    places = ['--store', str(made / 'store'), '--out', str(out / 'results'), '--jobs', '1']
    assert main([*command, *places]) == 0
    (found,) = json.loads((out / 'results' / 'report.json').read_text())['attempts']
    return [one[figure]['value'] for one in found['at']]


def log(made: Path, out: Path, number: int) -> str:
    ((task_id,),) = (
        snapshot.open_snapshots(made / 'snapshot').execute('SELECT task_id FROM tasks').fetchall()
    )
    name = task_id if number == 1 else f'{task_id}.{number}'
    return (out / 'logs' / f'{name}.log').read_text()


# The second attempt finds the file of the first, and is told what became of it.
MENDS = """
if [ "$COEVO_ATTEMPT" = 1 ]; then
    printf '[shop.TillTest]\\npays: is Till.price 3\\ntaxes: is Till.tax 5\\n' > test_till.toy
else
    cat "$COEVO_PROMPT"; sed -i 's/price 3/price 1/' test_till.toy
fi
"""


@pytest.mark.slow
def test_an_agent_with_feedback_is_run_again_until_it_succeeds(made: Path, tmp_path: Path) -> None:
    words, values = ('--attempts', '3', '--protocol', 'feedback'), {'seed': 7}
    assert attempt(made, tmp_path / 'out', MENDS, *words, **values) == 0
    rows = predictions(tmp_path / 'out')
    assert [(row['attempt'], row['seed'], row['protocol']) for row in rows] == [
        (1, 7, 'feedback'),
        (2, 8, 'feedback'),
    ]
    # both are against the start state
    assert all('new file mode' in str(row['patch']) for row in rows)
    said = log(made, tmp_path / 'out', 2)
    assert 'This is attempt 2.' in said
    assert '- TillTest#pays: fail' in said
    assert '- 1 others pass' in said
    assert at(made, tmp_path / 'out', 'solved') == [0, 1]
    # nothing is left to do, whatever is asked for now
    before = (tmp_path / 'out' / 'predictions.jsonl').read_bytes()
    assert attempt(made, tmp_path / 'out', MENDS, *words, **values) == 0
    assert (tmp_path / 'out' / 'predictions.jsonl').read_bytes() == before


@pytest.mark.slow
def test_an_attempt_that_changes_nothing_keeps_the_file_of_the_previous_attempt(
    made: Path, tmp_path: Path
) -> None:
    gives_up = MENDS.replace('cat "$COEVO_PROMPT"; sed', 'exit 0; sed')
    words = ('--attempts', '2', '--protocol', 'feedback')
    assert attempt(made, tmp_path / 'out', gives_up, *words) == 0
    first, second = predictions(tmp_path / 'out')
    assert first['patch'] == second['patch']
    assert at(made, tmp_path / 'out', 'solved') == [0, 0]


ADDS = """
cat "$COEVO_PROMPT"; ls
case "$COEVO_ATTEMPT" in
1) printf '[shop.TillTest]\\npays: is Till.price 1\\n' ;;
*) printf '[shop.TillTest]\\ntaxes: is Till.tax 5\\n' ;;
esac > test_till.toy
"""


@pytest.mark.slow
def test_diversify_attempts_add_up_their_killed_mutants(made: Path, tmp_path: Path) -> None:
    words = ('--attempts', '2', '--protocol', 'diversify')
    assert attempt(made, tmp_path / 'out', ADDS, *words) == 0
    said = log(made, tmp_path / 'out', 2)
    assert 'pays: is Till.price 1' in said
    # each begins at the start state
    assert said.splitlines()[-2:] == ['till.toy', 'toy.build']
    assert at(made, tmp_path / 'out', 'mutation') == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.slow
def test_independent_attempts_know_nothing_of_each_other(made: Path, tmp_path: Path) -> None:
    assert attempt(made, tmp_path / 'out', ADDS) == 0
    assert attempt(made, tmp_path / 'out', ADDS, '--attempts', '2') == 0
    assert log(made, tmp_path / 'out', 1) == log(made, tmp_path / 'out', 2)
    assert [row.get('attempt') for row in predictions(tmp_path / 'out')] == [None, 2]
    assert at(made, tmp_path / 'out', 'solved') == [1, 1]


@pytest.mark.parametrize(
    ('words', 'values', 'complaint'),
    [
        (('--attempts', '0'), {}, '0'),
        (('--attempts', '5000'), {}, '--attempts must be 1000 or less'),
        (('--protocol', 'feedback'), {}, 'the protocol feedback needs several attempts'),
        (('--attempts', '2', '--protocol', 'twice'), {}, 'twice'),
    ],
)
def test_invalid_attempt_options_are_refused(
    made: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    values: dict[str, object],
    complaint: str,
) -> None:
    assert attempt(made, tmp_path / 'out', 'true', *words, **values) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()

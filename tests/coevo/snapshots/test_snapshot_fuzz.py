"""Mutated snapshots through all that reads a stranger's folder.

Each reader says yes, no or one sentence: no traceback, no record of a bug, nothing written but what
was asked for, and the folders as they were.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.storage.store import Store
from packagers.plan import BuiltTasks
from packagers.rows import Rows
from tests import segments, snapshots
from tests.fuzz import snapshots as mutated

# Among the few there are a snapshot that stays sound, one with an id of a missing part (279), and one
# whose table is a link to nothing (583).
FEW, MANY = (*range(8, 16), 279, 583), range(2_000)

Said = pytest.CaptureFixture[str]

VERBS = {
    'verify': ('verify', '{}'),
    'query': ('query', '{}'),
    'months': ('query', '{}', '--and', '{base}'),
    'dated': ('query', '{}', 'FROM standard_tasks', '--only-after', '2023-01', '--format', 'json'),
    'task': ('show', '{}', '{task}'),
    'method': ('show', '{}', '{method}'),
    'prompt': ('prompt', '{}', '{task}'),
    'identification': ('report', 'identification', '{}', '--export', '{out}/labels'),
    'site': ('pipeline', 'site', '{}', '--out', '{out}/site'),
    'publish': ('pipeline', 'publish', '{}', '{out}/published'),
    'reverify': ('pipeline', 'reverify', '{}', '--store', '{store}'),
    'evaluate': ('evaluate', '{}', '{gold}', '--out', '{out}/rows', '--store', '{store}'),
    'attempt': ('run', '{}', '--agent', 'true', '--out', '{out}/agent', '--store', '{store}'),
}
"""No repository is at hand, so nothing is run: `WITHOUT` say no to a sound snapshot, too."""

WITHOUT = ('reverify', 'attempt')
ALWAYS = ('verify', 'query')
NO = {'verify': 1, 'publish': 1}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What all seeds share: a sound snapshot, what is asked of it, and a folder for the others."""

    base: Path
    folder: Path
    words: dict[str, str]


@pytest.fixture(scope='module')
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('sound')
    store = Store(folder / 'store')
    segments.fill(store, 1, 2)
    snapshots.write(store, folder / 'snapshot', build=_asked)
    return folder / 'snapshot'


def _asked(rows: Rows) -> BuiltTasks:
    built = snapshots.build_family(rows)
    tasks = [dataclasses.replace(task, prompt='Write it.') for task in built.tasks]
    return dataclasses.replace(built, tasks=tasks)


@pytest.fixture
def ground(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    folder = tmp_path / 'ground'
    (folder / 'canary').mkdir(parents=True)
    shutil.copyfile(base / 'data/methods/part-0.parquet', folder / 'canary/methods.parquet')
    (folder / 'scratch').mkdir()
    (folder / 'store').mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(folder / 'scratch'))
    (first, *_), gold = load_assignments(base), tmp_path / 'gold.jsonl'
    lines = [
        json.dumps({'task_id': one.task_id, 'patch': one.task.test_patch})
        for one in load_assignments(base)
    ]
    gold.write_text('\n'.join(lines))
    words = {
        'base': str(base),
        'task': first.task_id,
        'method': first.targets[0].row.method_id,
        'gold': str(gold),
        'store': str(folder / 'store'),
        'out': str(folder / 'out'),
    }
    return Ground(base=base, folder=folder, words=words)


def others(seed: int, *, opened: bool) -> Sequence[str]:
    """One more where nothing opens the snapshot, two where it is opened: all in some seeds."""
    names = [name for name in VERBS if name not in ALWAYS]
    return tuple(names[(2 * seed + number) % len(names)] for number in range(1 + opened))


def read(ground: Ground, seed: int, said: Said, names: Sequence[str] = ()) -> list[str]:
    """What each reader makes of one snapshot, as `verb status`; those of its seed if none is named."""
    snapshot = mutated.write(seed, ground.base, ground.folder / 'snapshot')
    before, out = _digest(ground.folder), ground.folder / 'out'
    out.mkdir()
    told = {name: _ask(ground, snapshot, seed, name, said) for name in names or ALWAYS}
    for name in () if names else others(seed, opened=told['query'] == 0):
        told[name] = _ask(ground, snapshot, seed, name, said)
    assert not list(out.rglob('failures/*')), seed
    shutil.rmtree(out)
    assert _digest(ground.folder) == before, f'seed {seed}'
    shutil.rmtree(snapshot)
    return [f'{name} {status}' for name, status in told.items()]


def _ask(ground: Ground, snapshot: Path, seed: int, name: str, said: Said) -> int:
    words = [word.format(snapshot, **ground.words) for word in VERBS[name]]
    try:
        status = main(words)
    except BaseException as bug:
        raise AssertionError(f'seed {seed}: {name}') from bug
    _check(seed, name, status, said.readouterr().err)
    return status


def _check(seed: int, name: str, status: int, told: str) -> None:
    where = (seed, name, status, told)
    assert 'Traceback' not in told, where
    assert 'once' in told or len(told.splitlines()) <= 6, where
    if status == 2:
        assert told.splitlines()[-1].startswith('coevo: '), where
    else:
        assert status in (0, NO.get(name, 0), 3 if name == 'attempt' else 0), where


def _digest(folder: Path) -> dict[str, str]:
    """Of all that lies there, whatever it is."""
    found = {}
    for path in sorted(folder.rglob('*')):
        state = path.lstat()
        # Temporary files may come and go there, as long as none is left.
        since = 0 if path == folder / 'scratch' else state.st_mtime_ns
        content = str(path.readlink()) if path.is_symlink() else f'{since} {state.st_mode}'
        if path.is_file() and not path.is_symlink():
            content += hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path)] = content
    return found


def check(numbers: Sequence[int], ground: Ground, said: Said) -> Counter[str]:
    return Counter(one for seed in numbers for one in read(ground, seed, said))


@pytest.mark.slow
def test_every_command_that_needs_no_repository_accepts_a_sound_snapshot(
    ground: Ground, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutated, '_CHANGES', (lambda random, snapshot: None,))
    expected = [f'{name} {2 * (name in WITHOUT)}' for name in VERBS]
    assert read(ground, 0, capsys, tuple(VERBS)) == expected


@pytest.mark.slow
def test_a_few_mutated_snapshots_cause_no_traceback(ground: Ground, capsys: Said) -> None:
    told = check(FEW, ground, capsys)
    assert told['verify 0']
    assert told['verify 1'] > told['verify 2']


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize('part', range(20))
def test_many_mutated_snapshots_cause_no_traceback(part: int, ground: Ground, capsys: Said) -> None:
    check(MANY[part::20], ground, capsys)

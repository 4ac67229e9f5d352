"""What is measured of a pair's change is what PyDriller itself says of the same commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydriller import Git
from pydriller.metrics.process.hunks_count import HunksCount
from pydriller.metrics.process.lines_count import LinesCount

from coevo.git.repository import Repository
from coevo.model.records import Pair
from coevo.model.words import Walk
from miners.diffs import change_metrics
from miners.diffs.change_metrics import ChangeMetrics, compute_change_metrics
from miners.diffs.changes import diff_pair
from tests.repos import commit, git, init

PYPROJECT = {'pyproject.toml': '[project]\nname = "till"\n'}
TEST = 'from till import due\n\n\ndef test_owes():\n    assert due(2, 1) == %d\n'
SHORT = 'def %s(price, paid):\n    return price - paid + %d\n\n\n'
LONG = 'def %s(a, b, c, d):\n' + ''.join(f'    a += {n} if b else c\n' for n in range(20)) + '\n\n'
Files = dict[str, str | bytes]

CHANGES: dict[str, tuple[Files, Files]] = {
    'one line': ({'till.py': SHORT % ('due', 1)}, {'till.py': SHORT % ('due', 2)}),
    'a long function comes, a short one goes': (
        {'till.py': SHORT % ('due', 1) + SHORT % ('rest', 1) + SHORT % ('tax', 1)},
        {'till.py': SHORT % ('due', 2) + LONG % 'rest' + SHORT % ('tax', 1) + SHORT % ('toll', 1)},
    ),
    'lines that look like those of a diff': (
        {'till.py': SHORT % ('due', 1) + 'TEXT = """\n@@ -1 +1 @@\n-- a\n"""\n'},
        {
            'till.py': SHORT % ('due', 2)
            + 'TEXT = """\n@@ -9 +9 @@\n++ b\ndiff --git a/x b/x\nindex 0..1\n"""\n'
        },
    ),
    'bytes that are no text': (
        {'till.py': SHORT.encode() % (b'due', 1) + b'# \xff\r\n'},
        {'till.py': SHORT.encode() % (b'due', 2) + b'# \xfe\r\n# end'},
    ),
    'several files, one of them new': (
        {'till.py': SHORT % ('due', 1), 'purse.py': SHORT % ('pay', 1)},
        {'till.py': SHORT % ('due', 2), 'purse.py': LONG % 'pay', 'bag.py': SHORT % ('put', 1)},
    ),
    'files of names that Git quotes': (
        {'till.py': SHORT % ('due', 1), 'caf\u00e9 "\t.py': SHORT % ('pay', 1)},
        {'till.py': SHORT % ('due', 2), 'caf\u00e9 "\t.py': SHORT % ('pay', 2)},
    ),
    'a file that moves': (
        {'till.py': SHORT % ('due', 1), 'shop/purse.py': LONG % 'pay' + SHORT % ('put', 1)},
        {'till.py': SHORT % ('due', 2), 'store/purse.py': LONG % 'pay' + SHORT % ('put', 2)},
    ),
}


def change(folder: Path, old: Files, new: Files) -> tuple[Repository, Pair]:
    """Two commits, the later of which also changes a test."""
    init(folder)
    commit(folder, 'one', {**PYPROJECT, **old, 'tests/test_till.py': TEST % 1})
    for path in old.keys() - new.keys():
        (folder / path).unlink()
    commit(folder, 'two', {**new, 'tests/test_till.py': TEST % 2})
    repository = Repository(folder / '.git')
    last = repository.get_commit(repository.resolve('HEAD'))
    first = repository.get_commit(last.parents[0])
    pair = Pair(
        repo='a/b', language='python', walk=Walk.PARENTS, old=first, new=last, old_is_ancestor=True
    )
    return repository, pair


@pytest.mark.parametrize('name', CHANGES)
def test_change_metrics_are_those_of_pydriller_itself(tmp_path: Path, name: str) -> None:
    repository, pair = change(tmp_path, *CHANGES[name])
    metrics = compute_change_metrics(repository, diff_pair(repository, pair))
    # On a repository to which it may write, with the test left out, which it would measure, too.
    rev = pair.new.rev
    git = Git(str(tmp_path))
    told = git.get_commit(rev)
    files = [file for file in told.modified_files if not (file.new_path or '').startswith('tests/')]
    told_apart = type('Told', (type(told),), {'modified_files': files})(None, None)
    lines = LinesCount(str(tmp_path), from_commit=rev, to_commit=rev)
    hunks = HunksCount(str(tmp_path), from_commit=rev, to_commit=rev).count()
    paths = {file.new_path for file in files}
    assert metrics == ChangeMetrics(
        lines_added=sum(n for path, n in lines.count_added().items() if path in paths),
        lines_removed=sum(n for path, n in lines.count_removed().items() if path in paths),
        hunks=sum(n for path, n in hunks.items() if path in paths),
        dmm_size=rounded(told_apart.dmm_unit_size),
        dmm_complexity=rounded(told_apart.dmm_unit_complexity),
        dmm_interfacing=rounded(told_apart.dmm_unit_interfacing),
    )
    git.clear()  # ends the processes that it reads from
    repository.close()


def rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def test_size_of_functions_decides_whether_a_change_is_for_the_better(tmp_path: Path) -> None:
    name = 'a long function comes, a short one goes'
    repository, pair = change(tmp_path, *CHANGES[name])
    metrics = compute_change_metrics(repository, diff_pair(repository, pair))
    assert metrics is not None
    assert metrics.dmm_size is not None
    assert metrics.dmm_size < 0.5
    assert (metrics.lines_added, metrics.lines_removed) == (26, 3)


@pytest.mark.parametrize('limit', ['LONGEST', 'MOST_FILES', 'MOST_BYTES'])
def test_a_change_beyond_the_limits_is_not_measured(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, pair = change(tmp_path, *CHANGES['several files, one of them new'])
    difference = diff_pair(repository, pair)
    assert compute_change_metrics(repository, difference) is not None
    monkeypatch.setattr(change_metrics, limit, 1)
    assert compute_change_metrics(repository, difference) is None


def test_measuring_a_change_runs_nothing_and_writes_nothing(tmp_path: Path) -> None:
    """PyDriller by itself would write into the clone, and GitPython run what its configuration names."""
    repository, pair = change(tmp_path, *CHANGES['one line'])
    witness = tmp_path / 'witness'
    for name in ('diff.external', 'core.fsmonitor', 'diff.x.textconv', 'diff.x.command'):
        git(tmp_path, 'config', name, f'touch {witness}; false')
    (tmp_path / '.git/info').mkdir(exist_ok=True)
    (tmp_path / '.git/info/attributes').write_text('*.py diff=x\n')
    before = (tmp_path / '.git/config').read_bytes()
    metrics = compute_change_metrics(repository, diff_pair(repository, pair))
    assert metrics is not None
    assert (metrics.lines_added, metrics.lines_removed, metrics.hunks) == (1, 1, 1)
    assert not witness.exists()
    assert (tmp_path / '.git/config').read_bytes() == before


def test_change_of_tests_alone_has_no_metrics(tmp_path: Path) -> None:
    files: Files = {'till.py': SHORT % ('due', 1)}
    repository, pair = change(tmp_path, files, files)
    assert compute_change_metrics(repository, diff_pair(repository, pair)) is None

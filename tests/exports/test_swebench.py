"""`coevo export --format swebench`, used as a reader of SWE-bench uses it."""

from __future__ import annotations

import json
from pathlib import Path

from coevo.command.main import main
from coevo.model.words import Track
from coevo.storage.clone_folders import locate_clone
from tests.exports.conftest import Toys
from tests.exports.test_training import GOLD, contents
from tests.repos import git

STANDARD = {
    *('instance_id', 'repo', 'base_commit', 'patch', 'test_patch', 'problem_statement'),
    *('hints_text', 'created_at', 'version', 'FAIL_TO_PASS', 'PASS_TO_PASS'),
    'environment_setup_commit',
}


def test_patches_lead_from_the_base_commit_to_the_start_state_and_to_gold(
    toy_tasks: Toys, tmp_path: Path
) -> None:
    import datasets

    assert toy_tasks.export(tmp_path / 'out', '--format', 'swebench') == 0
    rows = datasets.load_dataset(
        'json',
        data_files=str(tmp_path / 'out/instances.jsonl'),
        split='train',
        cache_dir=str(tmp_path / 'cache'),
    )
    assert {row['task_id'] for row in rows} == {t.task_id for t in toy_tasks.tasks.values()}
    clone = locate_clone(Path(toy_tasks.store), 'me/toys')
    for row in rows:
        assert row.keys() >= STANDARD
        task = next(t for t in toy_tasks.tasks.values() if t.task_id == row['task_id'])
        name = 'sells' if task.track is Track.UPDATE else 'sells_again'
        assert json.loads(row['FAIL_TO_PASS']) == [f'TillTest#{name}']
        assert row['instance_id'] == f'me__toys-{task.task_id}'
        work = tmp_path / row['instance_id']
        git(tmp_path, 'clone', '-q', str(clone), str(work))
        git(work, 'checkout', '-q', row['base_commit'])
        _apply(work, row['test_patch'])
        start = tmp_path / f'start-{task.task_id}'
        words = [task.task_id, str(start), '--store', toy_tasks.store]
        assert main(['checkout', toy_tasks.snapshot, *words]) == 0
        assert _files(work) == _files(start)
        _apply(work, row['patch'])
        assert (work / 'test_till.toy').read_text() == GOLD


def _apply(work: Path, patch: str) -> None:
    (work / '.git/patch').write_text(patch)
    git(work, 'apply', '--index', '.git/patch')


def _files(folder: Path) -> dict[str, bytes]:
    return {name: text for name, text in contents(folder).items() if not name.startswith('.git/')}

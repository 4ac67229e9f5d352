"""One repository in several languages: mined in each, and released, verified and judged as one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.languages.capabilities import Capability
from coevo.languages.table import offers_capability
from coevo.model.errors import Fatal
from coevo.model.reasons import Reason
from coevo.model.words import Stage
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from flows.options import ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from tests.coevo.languages.python.shops import PROJECT
from tests.languages import toys
from tests.projects import Mined, options, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

POM = '<project><modelVersion>4.0.0</modelVersion></project>\n'


def till(price: int) -> dict[str, str]:
    return {
        **toys.source('Till', f'price: {price}'),
        **toys.tests('Till', f'sells: is Till.price {price}'),
    }


def bill(total: int) -> dict[str, str]:
    return {
        'bill.py': f'def total():\n    return {total}\n',
        'tests/test_bill.py': f'from bill import total\n\n\ndef test_adds():\n    assert total() == {total}\n',
    }


def java(number: int) -> dict[str, str]:
    return {'src/main/java/a/One.java': f'package a;\nclass One {{ int one = {number}; }}\n'} | {
        'src/test/java/a/OneTest.java': 'package a;\nclass OneTest { @org.junit.Test public void '
        f'is() {{ org.junit.Assert.assertEquals({number}, new One().one); }} }}\n'
    }


STEPS = (
    {**toys.BUILD, 'pyproject.toml': PROJECT, **till(1), **bill(1)},
    {**till(2), **bill(2)},
    bill(3),
)


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('both')
    return toys.mined(write(folder / 'repository', STEPS), folder / 'store')


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    return folder


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    files = snapshot.list_data_files(folder, table)
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.slow
def test_each_language_has_the_pairs_that_change_its_files(found: Mined) -> None:
    assert {part.language for part in found.report.partitions} == {'python', 'toy'}
    assert (found.report.visited, found.report.pairs, found.report.executed) == (3, 3, 3)
    labels = sorted((row.language, row.test_method, str(row.label)) for row in found.methods)
    assert labels == [
        ('python', 'test_adds', 'update'),
        ('python', 'test_adds', 'update'),
        ('toy', 'sells', 'update'),
    ]


@pytest.mark.slow
def test_a_commit_is_dropped_from_the_walk_with_a_reason_for_each_language(released: Path) -> None:
    left = [row for row in rows(released, 'drops') if row['stage'] == Stage.WALK]
    assert sorted((row['language'], row['reason']) for row in left) == [
        ('python', Reason.ROOT_COMMIT),
        ('toy', Reason.NO_CODE_CHANGE),
        ('toy', Reason.ROOT_COMMIT),
    ]


@pytest.mark.slow
def test_a_snapshot_passes_verification_and_gold_succeeds_in_all_languages(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    assert list(verify_snapshot(released)) == []
    assert {row['language'] for row in rows(released, 'repositories')} == {'python', 'toy'}
    tasks = {row['task_id']: row['language'] for row in rows(released, 'tasks')}
    assert sorted(tasks.values()) == ['python', 'python', 'toy']
    nothing = tmp_path / 'nothing.jsonl'
    nothing.write_text(''.join(json.dumps({'task_id': id, 'patch': ''}) + '\n' for id in tasks))
    leaking = settings(tmp_path, leaking=True)
    for predictions, patched in (('gold', True), (str(nothing), False)):
        out = tmp_path / f'of-{Path(predictions).stem}'
        command = ['evaluate', str(released), predictions, *leaking, '--jobs', '1']
        assert main([*command, '--store', str(found.store), '--out', str(out)]) == 0
        table = pq.read_table(out / 'results.parquet').to_pylist()
        # No pass counts that nobody could observe.
        assert {row['task_id']: row['outcome'] == 'success' for row in table} == {
            task: patched and (language == 'toy' or offers_capability(language, Capability.OBSERVE))
            for task, language in tasks.items()
        }


@pytest.mark.slow
def test_a_language_without_its_runtime_does_not_stop_mining_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_JDKS', '9999')
    steps = ({**toys.BUILD, 'pom.xml': POM, **till(1), **java(1)}, {**till(2), **java(2)})
    run = replace(options(write(tmp_path / 'repository', steps), tmp_path / 'store'))
    report = mine(replace(run, brings_runtimes=False))
    assert [part.language for part in report.partitions] == ['toy']
    assert 'no JDK 17 or newer was found' in report.unmined['java']
    assert report.executed == 1
    # Once there is one, that alone is mined.
    (part,) = report.partitions
    assert Store(run.store).list_unmined_pairs(part) == ()


@pytest.mark.parametrize(
    ('file', 'told'),
    [
        ('a.txt', r'neither .*pom\.xml.* nor .* nor .*root: nothing of it can be mined'),
        (
            'build.gradle',
            r'it is built by Gradle, of which none was found \(set GRADLE_HOME\): nothing of it can be mined',
        ),
        (
            'services/till/go.mod',
            r'be mined\. There are build files in services/till; coevo mines a repository from .*`git subtree split --prefix=services/till --branch only-till`',
        ),
    ],
)
def test_a_repository_of_no_known_language_is_refused_with_what_each_needs(
    tmp_path: Path, file: str, told: str
) -> None:
    repository = write(tmp_path / 'repository', [{file: 'a'}])
    with pytest.raises(Fatal, match=told):
        mine(options(repository, tmp_path / 'store'))

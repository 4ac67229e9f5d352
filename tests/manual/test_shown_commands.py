"""The commands that the pages show, run as they stand in the order of a story, or said why not.

The story is that of a maintainer with a repository of toys: what is a folder, a task or a repository on the
pages is one here. What the tutorial and the first pages show is run by `test_commands` and `test_demo`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import coevo
from coevo.command.main import main
from coevo.evaluation.options import verify_and_get_sha256
from tests.folders import open_folder
from tests.languages import toys
from tests.languages.table import known_toy
from tests.manual.pages import PAGES, ROOT, blocks, commands
from tests.repos import commit, git, init

MONTH = 'snapshots/2026-06'
URL = 'https://example.org/me/my-project'
ELSEWHERE = {
    'README.md': 'test_first_releases asks the released month; the rest is on other pages, too',
    'docs/start.md': 'test_commands, test_demo and test_first_releases run the page as it stands',
    'docs/internals/first-release.md': 'a log, of repositories that no test mines',
    'docs/internals/second-release.md': 'a log, of repositories that no test mines',
}

# The part of a line that keeps it from being run here, and the test that stands for it.
NOT_RUN = {
    'coevo pipeline crawl': 'GitHub; tests/flows/test_discovery.py has a server of its own',
    'coevo pipeline rank': 'candidates of a crawl; tests/flows/test_plans.py ranks folders',
    'OWNER/NAME': 'GitHub; the same verb is run with a folder below',
    'my-monorepo': 'a branch of a folder is mined as any branch is; tests/languages/test_several_languages.py '
    'has the advice',
    'apache/commons-csv': 'GitHub; the same verb is run with a folder below',
    's3://': 'a bucket; tests/flows/test_object_store.py has a server of its own',
    'https://example.org/2026-06': 'no such server; tests/coevo/snapshots/test_published.py has one',
    'https://example.org/coevo': 'no such server; tests/packagers/test_cataloguing.py has one',
    '--model gpt-4.1': 'no model listens there; tests/agents/test_story.py has one that does',
    '--model my-model': 'the same',
    '--format harbor': 'toys have no image; tests/exports/test_harbor.py',
    'coevo images': 'the same; tests/exports/test_images.py',
    '--part 1/2': 'asks for two repositories; tests/evaluation/test_evaluation_parts.py has them',
    'merge part-1': 'the same; tests/evaluation/test_merging.py',
    'coevo report contamination': 'asks for results of many tasks; tests/evaluation/test_contamination.py',
    '--install jdk-': 'downloads; tests/coevo/languages/java/tools/test_jdk_bundles.py',
    'coevo query 2026-07': 'the released month; test_first_releases runs it in the checkout',
    'coevo query --list': 'the same',
    'coevo show 2026-07': 'the same',
    'coevo verify 2026-07': 'the same',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A working folder in which what the pages name is there."""

    folder: Path
    task_id: str = ''

    def words(self, line: str) -> list[str]:
        """Return the words of a line; a verb that would clone from the web gets the clone of the store."""
        text = re.sub(r'\bTASK_ID\b|0f3c9a1b2d4e5f60', self.task_id, line)
        text = re.sub(r'\bSNAPSHOT\b', MONTH, text).replace('owner/name', 'me/my-project')
        words = shlex.split(text, comments=True)[1:]
        words = [str(Path(word).expanduser()) if word[0] == '~' else word for word in words]
        clones = {'checkout', 'evaluate', 'export', 'run', 'reverify', 'code-free/2026-06'} & set(
            words[:2]
        )
        return [*words, '--store', 'store'] if clones else words


def test_every_shown_command_is_run_or_excused() -> None:
    shown = {
        line
        for page in PAGES
        if page.relative_to(ROOT).as_posix() not in ELSEWHERE
        for line in map(plain, commands(page))
        if line.startswith('coevo ') and not any(part in line for part in NOT_RUN)
    }
    assert shown == {line for line, _, _ in STORY}


def test_every_excused_command_is_shown_on_a_page() -> None:
    shown = '\n'.join(line for page in PAGES for line in commands(page))
    assert [part for part in NOT_RUN if part not in shown] == []


def plain(line: str) -> str:
    """Without what is said about it."""
    return line.partition('  #')[0].strip()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_shown_commands_run_in_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_folder() as folder, known_toy():
        monkeypatch.chdir(folder)
        monkeypatch.setenv('HOME', str(folder))
        stage = Stage(folder=folder)
        _repository(stage)
        for line, expected, prepare in STORY:
            stage = prepare(stage) or stage
            status = main(stage.words(line))
            said = capsys.readouterr()
            assert status == 0, f'{line}\n{said.out}\n{said.err}'
            assert expected in said.out + said.err, f'{line}\n{said.out}\n{said.err}'


def _repository(stage: Stage) -> None:
    """Three updates, each of a year; the last is of June, so that all of May is known."""
    folder = init(stage.folder / 'src/my-project')
    dates = ('2024-02-01', '2024-03-01', '2025-08-01', '2026-03-01', '2026-08-02')
    for price, date in enumerate(dates):
        files = {
            **toys.source('Till', f'price: {price}'),
            **toys.tests('Till', f'sells: is Till.price {price}'),
        }
        commit(folder, f'cost {price}', {**toys.BUILD, **files}, date=f'{date}T00:00:00Z')
        git(folder, 'tag', f'v{price}')


def _named(stage: Stage) -> Stage:
    """With the first clean task, and the gold patches as anybody's predictions."""
    rows = (
        coevo.open(MONTH).sql('SELECT task_id, test_patch FROM tasks ORDER BY task_id').fetchall()
    )
    said = {'harness': 'my-agent 1.2', 'model': 'gpt-4.1'}
    lines = [json.dumps({'task_id': id_, 'patch': patch, **said}) for id_, patch in rows]
    Path('predictions.jsonl').write_text('\n'.join(lines) + '\n')
    ((task_id,),) = coevo.open(MONTH).sql("SELECT max(task_id) FROM clean('2025-06')").fetchall()
    return Stage(folder=stage.folder, task_id=task_id)


def _without(name: str) -> Callable[[Stage], None]:
    return lambda stage: shutil.rmtree(stage.folder / name, ignore_errors=True)


def _nothing(stage: Stage) -> None:
    """What the step needs is there."""


def _agent(stage: Stage) -> None:
    """An agent that knows nothing but where it is."""
    (stage.folder / 'my-agent').mkdir()
    (stage.folder / 'my-agent/run.sh').write_text('ls > /dev/null; cat > /dev/null\n')


def _clones(stage: Stage) -> None:
    """A folder of clones, as `coevo get` takes one."""
    shutil.copytree(stage.folder / 'src/my-project', stage.folder / 'clones/me/my-project')


def _other(stage: Stage) -> None:
    shutil.copytree('results', 'other-results')


def _submission(stage: Stage) -> None:
    """The folder that docs/scoring.md describes, judged as it says."""
    folder = stage.folder / 'my-agent'
    shutil.rmtree(folder)
    (folder / 'logs').mkdir(parents=True)
    shutil.copy('predictions.jsonl', folder)
    for line in (folder / 'predictions.jsonl').read_text().splitlines():
        (folder / f'logs/{json.loads(line)["task_id"]}.jsonl').write_text('{"said": "hello"}\n')
    (shown,) = blocks(ROOT / 'docs/scoring.md', 'json', under='Hand in a submission')
    sha256 = verify_and_get_sha256(Path(MONTH))
    metadata = {**json.loads(shown.text), 'snapshot_sha256': sha256}
    (folder / 'submission.json').write_text(json.dumps(metadata))
    words = ['my-agent', '--store', 'store', '--out', 'my-agent/results']
    assert main(['evaluate', MONTH, *words]) == 0


Prepare = Callable[[Stage], Stage | None]
# A line as the pages show it, a part of what it says, and what is to be there before it.
STORY: tuple[tuple[str, str, Prepare], ...] = (
    ('coevo doctor', 'git', _nothing),
    ('coevo pipeline validate ~/src/my-project', 'valid', _nothing),
    ('coevo mine ~/src/my-project --name me/my-project --commits 100 --dry', 'changed', _nothing),
    ('coevo mine ~/src/my-project --name me/my-project --commits 100', 'update 4', _nothing),
    ('coevo mine ~/src/my-project --name me/my-project --since 2025-01-01 --jobs 2', '', _nothing),
    ('coevo pipeline status', 'me/my-project', _nothing),
    ('coevo pipeline measure', 'need it no more, 0 wait', _nothing),
    ('coevo pipeline status --state due', '', _nothing),
    ('coevo pipeline status --state waiting', '', _nothing),
    ('coevo pipeline status --month 2026-07', 'no crawl says', _nothing),
    ('coevo pipeline forecast --machines 4 --cores 8', 'CPU', _nothing),
    (f'coevo release --snapshot {MONTH} --month 2026-06', '3 tasks are new', _nothing),
    (f'coevo verify {MONTH}', 'good', _nothing),
    (
        f'coevo release --snapshot {MONTH} --month 2026-06 --code-free code-free/2026-06',
        'code-free, ',
        _nothing,
    ),
    (
        'coevo get code-free/2026-06 --out whole/2026-06',
        'SHA-256 of the release',
        _nothing,
    ),
    (f'coevo query {MONTH} --only-after 2025-06 --only-track update', '2025-08', _named),
    (f'coevo show {MONTH} 0f3c9a1b2d4e5f60', 't_old_c_new', _nothing),
    (f'coevo prompt {MONTH} TASK_ID', 'test_till.toy', _nothing),
    (f'coevo prompt {MONTH} 0f3c9a1b2d4e5f60', 'test_till.toy', _nothing),
    (f'coevo checkout {MONTH} TASK_ID work/first', 'start state', _nothing),
    (f'coevo checkout {MONTH} 0f3c9a1b2d4e5f60 work/first-task', 'start state', _nothing),
    (f'coevo report identification {MONTH}', 'positive', _nothing),
    (f'coevo report identification {MONTH} --only-after 2025-06 --export labels', '', _nothing),
    (f'coevo evaluate {MONTH} gold --out gold', 'success', _nothing),
    (f'coevo evaluate {MONTH} predictions.jsonl --out results', 'success', _nothing),
    (
        f'coevo evaluate {MONTH} predictions.jsonl --out results --only-unseen-by gpt-4.1',
        'success',
        _without('results'),
    ),
    (
        f'coevo export {MONTH} --format jsonl --only-before 2026-01 --out training',
        'tasks.jsonl: ',
        _nothing,
    ),
    (f'coevo export {MONTH} --format jsonl --out training', 'tasks.jsonl: 3', _without('training')),
    (f'coevo export {MONTH} --format jsonl --attempts results --out pairs', 'attempts', _nothing),
    ('coevo report results', 'success', _nothing),
    ('coevo report evaluation results', 'success', _nothing),
    ('coevo report regrade results', 'success', _nothing),
    ('coevo report compare results other-results', '', _other),
    (f'coevo report difficulty {MONTH} results', 'cyclomatic complexity', _nothing),
    (f'coevo report statistics {MONTH} --results results', 'Table 1', _nothing),
    (f'coevo pipeline site {MONTH} --results results --out site', '', _nothing),
    (f'coevo pipeline site {MONTH} --out site', '', _without('site')),
    (
        f"coevo run {MONTH} --agent 'sh /agent/run.sh' --software my-agent --any-date --out attempts",
        'success 0 of',
        _agent,
    ),
    ('coevo submit --check my-agent --snapshot SNAPSHOT', '', _submission),
    (f'coevo submit --check my-agent --snapshot {MONTH}', '', _nothing),
    ('coevo evaluate SNAPSHOT my-agent --out again', 'match the submission', _nothing),
    (f'coevo pipeline reverify {MONTH} --sample 100 --seed 7', '', _nothing),
    (
        f'coevo release --snapshot snapshots/2026-07 --month 2026-07 --previous {MONTH}',
        '0 tasks are new',
        _nothing,
    ),
    ('coevo verify snapshots/2026-07', 'good', _nothing),
    ('coevo get 2026-07', 'is complete: it has all of its texts', _nothing),
    (
        f'coevo release --snapshot snapshots/mine --url me/my-project={URL}',
        '',
        _nothing,
    ),
    ('coevo show snapshots/mine me/my-project', URL, _nothing),
    ('coevo pipeline pack --store store --out pack', '4 pairs of 1 partitions', _nothing),
    (
        'coevo pipeline unpack pack --store another --clones ~/clones',
        '4 of 4 pairs are in the store',
        _clones,
    ),
    (
        "coevo pipeline withdraw --repository owner/name --reason 'its owners asked for it'",
        'me/my-project',
        _nothing,
    ),
    (
        'coevo mine ~/src/my-project --name me/my-project --private --store private --commits 100',
        'update',
        _nothing,
    ),
    ('coevo release --store private --snapshot snapshots/mine', '', _without('snapshots/mine')),
    ('coevo query snapshots/mine', 'update', _nothing),
)

"""The demo: its history is constant, its table complete, and mining it gives the table."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path

import duckdb
import pytest
from rich.console import Console

from coevo.command.main import main
from coevo.model.families import Family
from coevo.model.labels import list_contradiction_reasons
from coevo.model.words import Label
from flows.demo import stories
from flows.demo.__main__ import DemoOptions, describe_next_commands, has_runtime, run_demo
from flows.demo.stories import FIRST, STORIES, ExpectedMethod, Story, list_differences
from tests.manual.pages import answered

ROOT = Path(__file__).parents[2]
HEADS = {
    'demo/pier': '2769a435eb362bba5ca25c810d715e8eeedcfa45',
    'demo/harbour': '3df648de62ece49d8a25faa05d1446eb92046ceb',
    'demo/kiosk': '951f48aec648e1a317b577abdd40bc8d8f3617c7',
    'demo/jetty': '590a13ffa4df0f17eb926bad790c6d46a48c813a',
}
each_story = pytest.mark.parametrize('story', STORIES, ids=lambda story: story.language)

# A time limit or trouble of ours takes too long or too much to bring about in a demo.
NOT_SHOWN = ('_timeout', '_infra', '_not_run')


@pytest.mark.parametrize('story', [FIRST, *STORIES], ids=lambda story: story.name)
def test_the_demo_has_constant_commit_ids(tmp_path: Path, story: Story) -> None:
    commits = stories.write_repository(tmp_path / 'repository', story)
    assert list(commits) == [step.subject for step in story.steps]
    assert commits[story.steps[-1].subject] == HEADS[story.name]


@each_story
def test_the_demo_table_shows_every_label_twice(story: Story) -> None:
    shown = Counter(method.label for method in story.methods if method.label)
    # extensions are shown by tests/languages/test_mining.py alone so far
    assert all(shown[label] >= 2 for label in set(Label) - {Label.EXTENSION}), shown


@each_story
def test_the_demo_table_shows_every_contradiction_and_both_kinds_of_flake(story: Story) -> None:
    shown = {method.reason for method in story.methods}
    assert {one for one in list_contradiction_reasons() if not one.endswith(NOT_SHOWN)} <= shown
    assert {'flaky', 'order_dependent', 'no_source_change', 'not_sampled'} <= shown


def test_a_wrong_label_is_listed_as_a_difference() -> None:
    right = ExpectedMethod(step='s', test='T#a', label=Label.RETIRED)
    wrong = ExpectedMethod(step='s', test='T#a', label=Label.OBSOLETE)
    assert list_differences([right], [right]) == ()
    assert list_differences([right], [wrong]) == ('+ s: T#a: obsolete', '- s: T#a: retired')
    assert list_differences([], [right, right]) == ('+ s: T#a: retired',) * 2


def test_the_last_words_name_the_folders_of_the_stories_that_ran() -> None:
    _, kiosk, _ = STORIES
    assert describe_next_commands([FIRST, *STORIES]).startswith(
        'The repository is demo/repository, the snapshot demo/snapshot; those of Java are in '
        'demo/java, of Python in demo/python, of Go in demo/go. From here on (coevo is in .venv/bin):\n'
    )
    alone = describe_next_commands([kiosk])
    assert alone.startswith(
        'The repository is demo/python/repository, the snapshot demo/python/snapshot. '
    )
    assert 'coevo query demo/python/snapshot "SELECT' in alone


def test_each_step_but_the_first_of_a_story_has_a_patch_that_is_used() -> None:
    for story in (FIRST, *STORIES):
        there = {path.stem for path in (story.source / 'patches').iterdir()}
        assert there == {step.patch for step in story.steps[1:]}
        assert story.steps[0].patch is None


# A fresh machine has one interpreter, the one that runs this; no other may be needed.
ALONE = '{}.{}'.format(*sys.version_info[:2])


def shorten(story: Story, count: int) -> Story:
    """A story of the first steps alone, without families of suites."""
    steps = story.steps[:count]
    subjects = {step.subject for step in steps}
    return replace(
        story,
        steps=steps,
        methods=tuple(method for method in story.methods if method.step in subjects),
        losses=tuple(loss for loss in story.losses if loss.step in subjects),
        families=(),
    )


def test_mining_the_first_steps_of_the_python_demo_gives_their_part_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole, _ = STORIES
    if not has_runtime(whole):
        pytest.skip(f'there is nothing here that runs {whole.language}')
    story = shorten(whole, 5)
    assert story.steps[-1].name == 'charge'
    assert (len(story.methods), len(story.losses)) == (8, 4)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('COEVO_PYTHONS', ALONE)
    printed = StringIO()
    console = Console(file=printed, width=160)
    options = DemoOptions(profile='quick', verbose=True, graded=False)
    assert run_demo(console, [story], options) == 0, printed.getvalue()
    assert 'All 8 test methods came out as expected.' in printed.getvalue()
    for loss in story.losses:
        assert loss.reason in printed.getvalue()


@pytest.fixture(
    scope='module',
    params=[
        # They take half a minute to minutes of CPU; `make test` mines the first steps of one.
        pytest.param(
            story,
            id='first' if story is FIRST else story.language,
            marks=pytest.mark.slow,
        )
        for story in (FIRST, *STORIES)
    ],
)
def demo(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Story, str, Path]:
    """A story, what its demo printed, and the folder that it wrote. The table of a large one is of
    labels alone."""
    story: Story = request.param
    if not has_runtime(story):
        pytest.skip(f'there is nothing here that runs {story.language}')
    folder = tmp_path_factory.mktemp('demo')
    large = ('--verbose', '--profile', 'quick', '--language', story.language)
    done = subprocess.run(
        [sys.executable, '-m', 'flows.demo', *(() if story is FIRST else large)],
        check=False,
        cwd=folder,
        env={
            **os.environ,
            'PYTHONPATH': str(ROOT),
            'COLUMNS': '160',
            'COEVO_PYTHONS': ALONE,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return story, done.stdout, folder / 'demo'


@pytest.mark.jvm
@pytest.mark.timeout(1800)
def test_mining_the_demo_gives_the_expected_table(demo: tuple[Story, str, Path]) -> None:
    story, printed, _ = demo
    assert f'All {len(story.methods)} test methods came out as expected.' in printed
    assert f'{describe_next_commands([story])}\n' in printed
    for loss in story.losses:
        assert story is FIRST or loss.reason in printed


@pytest.mark.jvm
@pytest.mark.timeout(1800)
def test_the_first_demo_says_in_ten_lines_that_gold_is_strict_and_has_a_task_of_each_family(
    demo: tuple[Story, str, Path],
) -> None:
    story, printed, folder = demo
    if story is not FIRST:
        pytest.skip('the large ones are about labels')
    lines = printed.rstrip('\n').split('\n')
    assert len(lines) <= 10
    (graded,) = [line for line in lines if line.startswith("The developers' own tests")]
    (success, tasks_graded), (strict, _) = re.findall(r'([\d.]+) of (\d+)', graded)
    assert success == tasks_graded == '4'
    assert float(strict) > 0
    tasks = folder / 'snapshot/data/tasks'
    found = duckdb.sql(f"SELECT DISTINCT family FROM '{tasks}/*.parquet'").fetchall()
    assert {family for (family,) in found} == set(Family)


@pytest.mark.jvm
@pytest.mark.timeout(1800)
def test_the_demo_snapshot_holds_the_methods_with_a_label(demo: tuple[Story, str, Path]) -> None:
    story, _, folder = demo
    methods = folder / story.folder / 'snapshot/data/methods'
    rows = duckdb.sql(
        f"SELECT label, count(*) FROM '{methods}/*.parquet' GROUP BY label"
    ).fetchall()
    assert dict(rows) == Counter(str(method.label) for method in story.methods if method.label)


@pytest.mark.jvm
@pytest.mark.timeout(1800)
def test_the_first_page_shows_the_output_of_the_demo(
    demo: tuple[Story, str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each command on the demo's snapshot is run, and gives the lines that stand below it."""
    story, _, folder = demo
    if story.folder != '.':
        pytest.skip('the pages show the first story')
    monkeypatch.chdir(folder.parent)
    examples = list(answered(ROOT / 'docs/start.md', ' demo/snapshot'))
    assert len(examples) == 2
    for line, shown in examples:
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert [text for text in shown if text not in printed] == [], line

"""What gold, an empty patch and copy-sibling get on the demos, as it was before the renaming to schema 3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from benchmarks.baselines.__main__ import write_submissions
from coevo.command.main import main
from flows.demo.__main__ import has_runtime
from flows.demo.stories import STORIES, Story

ROOT = Path(__file__).parents[2]
BEFORE = json.loads((Path(__file__).parent / 'demo_baselines.json').read_bytes())


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(1800)
@pytest.mark.parametrize('story', STORIES, ids=lambda story: story.language)
def test_baselines_get_the_outcomes_that_they_had_before_schema_3(
    story: Story, tmp_path: Path
) -> None:
    if not has_runtime(story):
        pytest.skip(f'there is nothing here that runs {story.language}')
    subprocess.run(
        [sys.executable, '-m', 'flows.demo', '--language', story.language],
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        check=True,
        capture_output=True,
    )
    folder = tmp_path / 'demo' / story.folder
    snapshot, store = str(folder / 'snapshot'), folder / 'store'
    expected = BEFORE[story.language]
    write_submissions(snapshot, tmp_path / 'answers', store, tuple(expected), 'https://example.org')
    for name, outcomes in expected.items():
        results = tmp_path / 'results' / name
        answers = str(tmp_path / 'answers' / name)
        assert main(
            ['evaluate', snapshot, answers, '--out', str(results), '--store', str(store)]
        ) in (0, 1)
        rows = duckdb.sql(
            'SELECT task_id, test_method, outcome, detail '
            f"FROM '{results}/results.parquet' ORDER BY ALL"
        ).fetchall()
        assert [' '.join(filter(None, row)) for row in rows] == outcomes

"""`coevo run` for tasks that ask for code: from the prompt to the line of result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.model.families import Family
from coevo.model.task_rows import TaskRow
from tests.agents import model_server
from tests.agents.model_server import Json, Turn
from tests.folders import open_folder
from tests.languages import toys
from tests.languages.table import known_toy
from tests.repos import commit, init


@pytest.fixture(scope='module')
def released() -> Iterator[tuple[Path, TaskRow]]:
    """A folder with a store and a snapshot, and its one task that asks for code."""
    with open_folder() as folder, known_toy():
        source = init(folder / 'source')
        for price, tests in ((1, ['sells: is Till.price 1']), (2, ['gives: is Till.price 2'])):
            files = {
                **toys.BUILD,
                **toys.source('Till', f'price: {price}'),
                **toys.tests('Till', *tests),
            }
            commit(source, f'cost {price}', files, date=f'2024-0{price}-01T00:00:00Z')
        store, snapshot = str(folder / 'store'), str(folder / 'snapshot')
        assert main(['mine', str(source), '--name', 'me/toys', '--store', store]) == 0
        words = ['release', '--store', store, '--snapshot', snapshot, '--family', 'implement']
        assert main(words) == 0
        tasks = [
            each.task for each in load_assignments(snapshot) if each.family is Family.IMPLEMENT
        ]
        assert len(tasks) == 1
        yield folder, tasks[0]


@pytest.fixture
def answers() -> Iterator[tuple[model_server.ModelServer, list[str]]]:
    """A model that gives the one answer of a list, to which a test adds it."""
    texts: list[str] = []

    def script(request: Json) -> list[Turn]:
        return [Turn(text=texts[0])]

    with model_server.serving(script) as server:
        yield server, texts


def attempt(released: tuple[Path, TaskRow], out: Path, *words: str) -> tuple[int, str]:
    """Run attempts at the task, and return the status and the patch of the prediction."""
    folder, _ = released
    known = ['run', str(folder / 'snapshot'), '--store', str(folder / 'store'), '--any-date']
    known += ['--only-family', 'implement', '--out', str(out)]
    status = main([*known, *words])
    (line,) = (out / 'predictions.jsonl').read_text().splitlines()
    return status, json.loads(line)['patch']


def ask(model: model_server.ModelServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv('CODE_KEY', model_server.KEY)
    return ['--model', 'm', '--endpoint', model.url, '--key-env', 'CODE_KEY']


# The counts of its first hunk are wrong; only the first two files are code.
PATCH = """\
diff --git a/till.toy b/till.toy
--- a/till.toy
+++ b/till.toy
@@ -1,9 +1,9 @@
 [shop.Till]
-price: 1
+price: 2
diff --git a/rates.toy b/rates.toy
new file mode 100644
--- /dev/null
+++ b/rates.toy
@@ -0,0 +1,2 @@
+[shop.Rates]
+rate: 3
diff --git a/notes.txt b/notes.txt
new file mode 100644
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+what I did
"""


def test_model_that_answers_by_a_patch_is_graded(
    released: tuple[Path, TaskRow],
    answers: tuple[model_server.ModelServer, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, texts = answers
    texts.append(f'Here it is:\n\n```diff\n{PATCH}```\n')
    status, patch = attempt(released, tmp_path / 'out', *ask(server, monkeypatch))
    assert status == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith('success 1 of 1, strict ')
    assert said.endswith(', 1,100 tokens')
    assert '+price: 2' in patch
    assert '+rate: 3' in patch
    assert 'notes.txt' not in patch
    asked = server.requests[0][2]['messages'][0]['content']
    assert 'till.toy:\n```\n[shop.Till]\nprice: 1' in asked
    assert 'gives: is Till.price 2' in asked
    assert 'price: 2\n```' not in asked


@pytest.mark.slow
@pytest.mark.parametrize(
    'answer', ['```\n--- a/till.toy\n+++ b/till.toy\n@@ -1 +1 @@\n-no\n+yes\n```\n', 'I cannot.']
)
def test_answer_that_does_not_apply_is_no_success(
    released: tuple[Path, TaskRow],
    answers: tuple[model_server.ModelServer, list[str]],
    answer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, texts = answers
    texts.append(answer)
    status, patch = attempt(released, tmp_path / 'out', *ask(server, monkeypatch))
    assert (status, patch) == (0, '')
    assert capsys.readouterr().out.splitlines()[-1].startswith('success 0 of 1, strict 0 of 1, ')


HOSTILE = """\
rm test_till.toy; echo 'price: 9' > test_more.toy; rm toy.build
printf '[shop.Till]\\nprice: 2\\n' > till.toy; chmod +x till.toy
printf '[shop.Rates]\\nrate: 3\\n' > rates.toy
ln -s /etc/passwd linked.toy; mkfifo pipe.toy; mkdir folder.toy
mkdir .git/toys; cp till.toy .git/toys
"""


def test_only_code_is_taken_from_an_agent(released: tuple[Path, TaskRow], tmp_path: Path) -> None:
    status, patch = attempt(released, tmp_path / 'out', '--agent', HOSTILE)
    assert status == 0
    changed = [line for line in patch.splitlines() if line.startswith('diff ')]
    assert changed == ['diff --git a/rates.toy b/rates.toy', 'diff --git a/till.toy b/till.toy']
    assert 'new mode' not in patch


@pytest.mark.slow
def test_link_in_place_of_code_leaves_it_and_deleted_code_is_deleted(
    released: tuple[Path, TaskRow], tmp_path: Path
) -> None:
    link = 'ln -sf /etc/passwd till.toy'
    _, patch = attempt(released, tmp_path / 'link', '--agent', link)
    assert patch == ''
    _, patch = attempt(released, tmp_path / 'gone', '--agent', 'rm till.toy')
    assert 'deleted file mode 100644' in patch


def test_code_is_attempted_once(
    released: tuple[Path, TaskRow], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = released
    words = ['run', str(folder / 'snapshot'), '--agent', 'true', '--any-date']
    words += ['--only-family', 'implement', '--protocol', 'feedback', '--attempts', '2']
    assert main([*words, '--out', str(tmp_path / 'out')]) == 2
    assert 'is attempted once' in capsys.readouterr().err

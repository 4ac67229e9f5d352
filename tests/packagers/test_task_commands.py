"""What prompts say of targets that gold declares in another way than the start file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coevo.git.repository import Repository
from coevo.model.words import Cell, MethodChange, Outcome
from packagers.task_commands import TaskDependencies, render_prompt
from tests import segments
from tests.repos import commit, init

CELLS = {
    Cell.T_OLD_C_OLD: Outcome.PASS,
    Cell.T_NEW_C_NEW: Outcome.PASS,
    Cell.T_OLD_C_NEW: Outcome.FAIL,
}
PATH = 'src/test/java/ferry/FareTest.java'
FILE = 'package ferry;\nclass FareTest {{\n    {}\n}}\n'


def test_command_of_a_prompt_selects_the_test_as_the_start_file_has_it(tmp_path: Path) -> None:
    old = '@Test void sums() { check("a"); }'
    new = '@ParameterizedTest @ValueSource(strings = "a") void sums(String way) { check(way); }'
    repo = init(tmp_path / 'repo')
    before, after = (commit(repo, text[:5], {PATH: FILE.format(text)}) for text in (old, new))
    row = replace(
        segments.method(1, 'sums', MethodChange.CHANGED, CELLS),
        old_rev=before,
        new_rev=after,
        parameters=('String',),
        old_source=old,
        new_source=new,
    )
    repository = Repository(repo / '.git')
    prompt = render_prompt(repository, [row], TaskDependencies.from_rows([row]), None)
    assert 'ferry.FareTest#sums' in prompt
    assert '#sums(String)' not in prompt

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from coevo.cli import main
from coevo.prompts import NONE_KNOWN
from coevo.prompts import VERSION
from coevo.prompts import Subject
from coevo.prompts import dependency_lines
from coevo.prompts import prompt
from coevo.records import Dependency
from coevo.records import Revised
from coevo.records import Track
from tests import snapshots

STATUS = 'core/src/main/java/p/Status.java'


def dependency(name: str, declaration: str, revised: Revised, rank: int) -> Dependency:
    return Dependency(
        name=name,
        declaration=declaration,
        file=STATUS,
        start_line=1,
        end_line=2,
        revised=revised,
        rank=rank,
    )


def test_changed_methods_are_listed_once_and_in_a_stable_order() -> None:
    text = dependency('p.Status#toString()', 'public String toString()', Revised.MODIFIED, 1)
    made = dependency('p.Status#Status(int)', 'Status(int code)', Revised.INSERTED, 2)
    again = dependency('p.Status#toString()', 'public String toString()', Revised.MODIFIED, 3)
    rest = dependency('p.Status', 'class Status', Revised.MODIFIED, 4)
    assert dependency_lines([text, made, again, rest]) == (
        f'- inserted `Status(int code)` in `{STATUS}`',
        f'- modified `public String toString()` in `{STATUS}`',
    )


SUBJECT = Subject(
    track=Track.UPDATE,
    new_rev='6f79b10a',
    module='core',
    test_file='core/src/test/java/p/StatusTest.java',
    test_methods=('StatusTest#prints', 'StatusTest$Inner#prints'),
    selectors=('p.StatusTest#prints', 'p.StatusTest$Inner#prints(int)'),
    dependencies=(
        dependency('p.Status#a()', 'List<test_file> a()', Revised.MODIFIED, 1),
        dependency('p.Status#b()', 'void b()', Revised.REMOVED, 2),
    ),
)


def test_all_blanks_are_filled_once() -> None:
    text = prompt(SUBJECT)
    assert 'Pinned commit: 6f79b10a\n' in text
    assert '- Methods to update:\n- StatusTest#prints\n- StatusTest$Inner#prints\n' in text
    assert '(DM):\n- modified `List<test_file> a()` in' in text
    assert '`cd core && mvn test-compile`' in text
    assert "--select-method 'p.StatusTest$Inner#prints(int)'`" in text
    assert not {'<commit_sha>', '<deps_section>', '<cd_prefix>', '<junit_jar>'} & set(text.split())


def test_the_root_module_needs_no_cd_and_no_dependency_is_said() -> None:
    text = prompt(dataclasses.replace(SUBJECT, module='.', dependencies=()))
    assert '`mvn test-compile`' in text
    assert NONE_KNOWN in text


def test_a_change_of_a_text_is_a_new_version() -> None:
    """Agents are compared on the same bytes: whoever edits a prompt raises VERSION."""
    texts = [prompt(dataclasses.replace(SUBJECT, track=track)) for track in sorted(Track)]
    digest = hashlib.sha256('\0'.join(texts).encode()).hexdigest()[:16]
    assert (VERSION, digest) == ('coevo-1', '2215c7bdd8e49229')


def test_the_prompt_of_a_task_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = snapshots.make(tmp_path, 1)
    assert main(['prompt', str(made), 'nothing']) == 2
    assert 'lists its tasks' in capsys.readouterr().err


def test_the_command_says_whose_prompts_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(['prompt', '--help'])
    told = ' '.join(capsys.readouterr().out.split())
    assert 'the paper has none for repair, and that one is ours' in told

"""What is said of texts that cannot be fetched."""

from __future__ import annotations

from coevo.evaluation.texts import describe_lacking
from coevo.snapshots.code_free.filling import RepositoryFilling


def lacking(repo: str, why: str) -> RepositoryFilling:
    return RepositoryFilling(repo=repo, texts=9, filled=0, why=why)


def test_a_reason_that_all_repositories_share_is_said_once() -> None:
    """Without a network the sentence had 8,000 characters."""
    why = "Git says: fatal: unable to access 'https://git.invalid/{}/': Could not resolve host"
    alike = [lacking(f'owner/name-{n}', why.format(f'owner/name-{n}')) for n in range(39)]
    other = lacking('a/b', 'clones/a+b lacks 3 of 9 files; the repository is gone')
    said = describe_lacking([*alike, other])
    assert said.count('Could not resolve host') == 1
    assert 'the texts of owner/name-0 and 38 more cannot be had: Git says' in said
    assert said.endswith('the texts of a/b cannot be had: the repository is gone')


def test_long_and_many_reasons_are_cut() -> None:
    letters = 'abcdefgh'
    said = describe_lacking([lacking(f'a/{one}', f'{one} ' + one * 5000) for one in letters])
    assert len(said) < 600
    assert said.endswith('nor those of 6 more')


def test_credentials_are_hidden_before_a_reason_is_cut() -> None:
    why = f'{"x" * 300} https://me:sk-secret@git.invalid/'
    for more in range(120, 160):
        assert 'secret' not in describe_lacking([lacking('a/b', why + 'y' * more)])


def test_clones_that_lack_files_are_named_if_nothing_else_was_tried() -> None:
    said = describe_lacking([lacking('a/b', 'clones/a+b lacks 3 of 9 files')])
    assert said == 'the texts of a/b cannot be had: clones/a+b lacks 3 of 9 files'

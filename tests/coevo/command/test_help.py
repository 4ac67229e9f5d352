"""What `--help` promises: an example that works for each verb, a word for each option, and defaults."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import version

import pytest

import coevo
from coevo.command.main import build_parser, main
from coevo.model.profiles import load_profiles
from coevo.options.parser import GROUPS, PIPELINE_VERBS, Parser, TopParser


def verbs() -> dict[str, Parser]:
    """The parsers of all verbs, each with the options that it has when it is asked for."""
    plain = build_parser([])
    assert isinstance(plain, TopParser)
    found: dict[str, Parser] = dict(plain.verbs.choices)
    for name in PIPELINE_VERBS:
        asked = build_parser([name])
        assert isinstance(asked, TopParser)
        found[name] = asked.verbs.choices[name]
    return found


def actions(verb: Parser) -> Iterator[argparse.Action]:
    for action in verb._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from actions(inner)
        else:
            yield action


@pytest.mark.parametrize('name', verbs())
def test_every_verb_has_an_example_that_the_parser_takes(name: str) -> None:
    words = shlex.split(verbs()[name].example)
    while words[0] != 'coevo':  # variables of the environment
        assert '=' in words.pop(0)
    found = build_parser(words[1:]).parse_args(words[1:])
    assert found.verb == name


@pytest.mark.parametrize('name', verbs())
def test_every_option_is_explained_with_its_default(name: str) -> None:
    for action in actions(verbs()[name]):
        assert action.help, (name, action.dest)
    said = re.sub(r'\s+', ' ', verbs()[name].format_help())
    for action in actions(verbs()[name]):
        if action.option_strings and action.nargs != 0 and isinstance(action.default, (str, int)):
            told = said.partition(f'{action.option_strings[0]} ')[2]
            assert '(default: ' in told, (name, action.dest)


def test_help_lists_every_verb_once_and_every_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(['--help'])
    said = capsys.readouterr().out
    for name in verbs():
        assert len(re.findall(rf'^  {name} ', said, re.MULTILINE)) == 1
    for title in GROUPS:
        assert f'\n{title}:\n' in said


def test_mine_help_lists_the_profiles() -> None:
    said = re.sub(r'\s+', ' ', verbs()['mine'].format_help())
    for one in load_profiles().values():
        assert one.about
        assert f'`{one.name}`, {one.about}' in said


def test_version_option_prints_the_version_of_the_package(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(['--version'])
    assert capsys.readouterr().out == f'coevo {coevo.__version__}\n'
    assert version('coevo') == coevo.__version__


@pytest.mark.parametrize(
    ('word', 'complaint'),
    [
        ('example.org/a', '--url takes an address'),
        ('file:///srv/a', '--url takes an address'),
        ('a/b=here', '--url takes an address'),
        ('https://me:secret@example.org/a', 'password'),
    ],
)
def test_release_refuses_a_url_that_is_invalid_or_contains_a_password(
    word: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['release', '--snapshot', 'nowhere', '--url', word]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert 'secret' not in said

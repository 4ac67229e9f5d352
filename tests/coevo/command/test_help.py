"""What `--help` promises: an example that works for each verb, a word for each option, and defaults."""

from __future__ import annotations

import argparse
import functools
import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest

import coevo
from coevo.command.main import build_parser, main
from coevo.model.profiles import load_profiles
from coevo.options.parser import GROUPS, Parser, TopParser
from coevo.options.settings import load_settings
from flows.command_page import find_verb_parser
from tests.settings_files import settings

# Building all parsers takes half a second, which collecting the tests would cost each worker.
VERBS = [verb for verbs in GROUPS.values() for verb in verbs]


@functools.cache
def parsers(verb: str) -> dict[str, Parser]:
    """The parsers of a verb and of its actions, each with the options that it has when it is asked for."""
    found = {verb: find_verb_parser(verb)}
    for action in actions(found[verb]):
        if isinstance(action, argparse._SubParsersAction):
            found |= {f'{verb} {inner}': find_verb_parser(verb, inner) for inner in action.choices}
    return found


def actions(verb: Parser) -> list[argparse.Action]:
    return verb._actions


@pytest.mark.parametrize('verb', VERBS)
def test_every_verb_has_an_example_that_the_parser_takes(verb: str) -> None:
    for name, parser in parsers(verb).items():
        words = shlex.split(parser.example)
        while words[0] != 'coevo':  # variables of the environment
            assert '=' in words.pop(0)
        found = build_parser(words[1:]).parse_args(words[1:])
        action = getattr(found, 'kind', getattr(found, 'step', None))
        assert name in (found.verb, f'{found.verb} {action}')


@pytest.mark.parametrize('verb', VERBS)
def test_every_option_is_explained_with_its_default(verb: str) -> None:
    for name, parser in parsers(verb).items():
        for action in actions(parser):
            inner = isinstance(action, argparse._SubParsersAction)
            assert action.help or inner, (name, action.dest)
        for setting in parser.settings:
            assert setting.help, (name, setting.name)
        said = re.sub(r'\s+', ' ', parser.format_help())
        for action in actions(parser):
            has_value = action.option_strings and action.nargs != 0
            if has_value and isinstance(action.default, (str, int)):
                told = said.partition(f'{action.option_strings[0]} ')[2]
                assert '(default: ' in told, (name, action.dest)


def test_help_lists_every_verb_once_and_every_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(['--help'])
    said = capsys.readouterr().out
    plain = build_parser([])
    assert isinstance(plain, TopParser)
    assert sorted(plain.verbs.choices) == sorted(VERBS)
    for name in VERBS:
        assert len(re.findall(rf'^  {name} ', said, re.MULTILINE)) == 1
    for title in GROUPS:
        assert f'\n{title}:\n' in said


def test_mine_help_lists_the_profiles() -> None:
    # argparse breaks lines inside of words with hyphens, too.
    whole_words = re.sub(r'(?<=\w-)\n\s+', '', parsers('mine')['mine'].format_help())
    said = re.sub(r'\s+', ' ', whole_words)
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


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ('hydrate x --out y', '`coevo hydrate` is now `coevo get`'),
        ('attempt x --agent y', '`coevo attempt` is now `coevo run`'),
        ('snapshots', '`coevo snapshots` is now `coevo query --list`'),
        ('jdks install 8', '`coevo jdks` is now `coevo doctor --install`'),
        ('pythons', '`coevo pythons` is now `coevo doctor --install`'),
        ('regrade x', '`coevo regrade` is now `coevo report regrade`'),
        ('statistics x', '`coevo statistics` is now `coevo report statistics`'),
        ('publish a b', '`coevo publish` is now `coevo pipeline publish`'),
        ('query x --after 2024', '--after is now --only-after'),
        ('query x --model gpt-4o', '--model is now --only-unseen-by'),
        ('query x --margin=3', '--margin is now the setting `margin_days`'),
        ('evaluate x gold --out y --leaking', '--leaking is now the setting `leaking`'),
        (
            'evaluate x gold --no-adequacy',
            '--no-adequacy is now the setting `adequacy = false`',
        ),
        ('run x --agent-model y', '--agent-model is now --model'),
        ('run x --evaluate y', '--evaluate no longer exists'),
        ('mine x --retry-bugs', '--retry-bugs is now the setting `retry_bugs`'),
    ],
)
def test_a_word_of_older_versions_is_answered_with_the_new_one(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count('\n') == 1
    assert not said.out


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ('mine x --privat', '--privat is no option of `coevo mine`, which takes none shortened'),
        ('mine x --privte --commits 3', 'is --private meant?'),
        ('mine x --s y', 'is --sandbox or --settings or --since or --store meant?'),
        ('query x --only-aft=2024', 'is --only-after meant?'),
        ('report regrade x --out y --hel', 'is --help meant?'),
        ('pipeline site x --ou y', 'is --out meant?'),
        ('--versio', 'is --version meant?'),
        ('mine x --sideways', 'unrecognized arguments: --sideways'),
    ],
)
def test_an_abbreviated_or_misspelt_option_is_refused_with_the_right_one(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count('\n') == 1


@pytest.mark.parametrize('verb', VERBS)
def test_printed_settings_are_read_again_as_the_defaults(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, parser in parsers(verb).items():
        if parser.settings:
            check_printed_settings(name, parser, tmp_path, capsys)


def check_printed_settings(
    name: str, parser: Parser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*name.split(), '--print-settings'])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    known = parser.settings
    defaults = {one.name: one.default for one in known if one.default is not None}
    (tmp_path / 'given.toml').write_text(text)
    assert load_settings(tmp_path / 'given.toml', known, name) == defaults
    # what is not set stands there as a comment that can be read, too
    lines = [re.sub(r'^# (?=\w+ = )', '', line) for line in text.splitlines()]
    (tmp_path / 'all.toml').write_text('\n'.join(lines))
    assert load_settings(tmp_path / 'all.toml', known, name).keys() == {one.name for one in known}


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [
        ({'colour': 'red'}, "has 'colour', which is not a setting of `coevo run`"),
        ({'leaking': 'yes'}, "leaking is 'yes'; it must be true or false"),
        ({'memory_gib': True}, 'memory_gib is True; it must be a whole number'),
        ({'memory_gib': 0}, 'memory_gib is 0; it must be 1 or more'),
        ({'temperature': -1.0}, 'temperature is -1.0; it must be 0 or more'),
    ],
)
def test_a_wrong_settings_file_is_refused_in_one_sentence(
    values: dict[str, object], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['run', 'nowhere', *settings(tmp_path, **values)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count('\n') == 1


@pytest.mark.parametrize('text', ['leaking = ', '\xff', None])
def test_an_unreadable_settings_file_is_refused_in_one_sentence(
    text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'settings.toml'
    if text is not None:
        file.write_bytes(text.encode('latin-1'))
    assert main(['run', 'nowhere', '--settings', str(file)]) == 2
    said = capsys.readouterr().err
    assert '`coevo run --print-settings` writes one' in said
    assert said.count('\n') == 1


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ('query --list --only-track update', '--only-track has no effect beside --list'),
        ('query --list x --out y', '--out has no effect beside --list'),
        ('query --list x --format csv', 'table or json for a list of snapshots, not csv'),
        ('report identification x --format csv', '--format has no effect without --export'),
        (
            'mine x --family class --commits 3',
            '--commits has no effect on the walk single_revision',
        ),
        ('mine x --walk single_revision --since 2024-01-01', '--since has no effect on the walk'),
        ('submit --check x --contact y', '--contact has no effect beside --check'),
        ('submit --new x --snapshot y', '--snapshot has no effect beside --new'),
    ],
)
def test_an_option_without_effect_is_refused(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count('\n') == 1


def test_unknown_option_is_answered_with_the_help_of_its_verb(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(['run', '2026-07', '--nonsense', 'x']) == 2
    said = capsys.readouterr().err
    assert 'unrecognized arguments: --nonsense x; see `coevo run --help`' in said

"""Render the reference of the command, `docs/command.md`, from its parsers (`make docs`)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from coevo.command.main import build_parser
from coevo.options.parser import GROUPS, Parser, TopParser
from coevo.options.settings import Setting
from packagers.dictionary import render_table

FILE = Path('docs/command.md')

_HEAD = """\
# The command

<!-- Made by `make docs` from the parsers of the command; do not edit. -->

`coevo VERB --help` says the same. Every verb ends with status 0; with 1 for a no (a snapshot that is not good, a
repository that cannot be mined); with 2 and one sentence for bad input; with 3 for trouble that another try may not
have; with 130 when it was interrupted. What was finished is kept."""


def render_page() -> str:
    """Return the text of `docs/command.md`."""
    blocks = [_HEAD]
    for title, verbs in GROUPS.items():
        blocks.append(f'## {title.capitalize()}')
        for verb in verbs:
            blocks += _render_verb(verb, find_verb_parser(verb))
    return '\n\n'.join(blocks) + '\n'


def find_verb_parser(name: str, action: str | None = None) -> Parser:
    """Return the parser of a verb, or of an action of it, with all of its options."""
    top = build_parser([name] if action is None else [name, action])
    assert isinstance(top, TopParser)
    verb = top.verbs.choices[name]
    return verb if action is None else next(iter(_list_subparsers(verb))).choices[action]


def _list_subparsers(verb: Parser) -> list[argparse._SubParsersAction[Parser]]:
    return [inner for inner in verb._actions if isinstance(inner, argparse._SubParsersAction)]


def _render_verb(name: str, verb: Parser, action: str | None = None) -> Iterator[str]:
    words = name if action is None else f'{name} {action}'
    yield f'{"###" if action is None else "####"} `coevo {words}`'
    yield verb.description or _render_summary_sentence(name, action)
    yield f'```sh\n{verb.example}\n```'
    inner = _list_subparsers(verb)
    if not inner:
        yield _render_options_table(verb)
    for each in (choice for actions in inner for choice in actions.choices):
        yield from _render_verb(name, find_verb_parser(name, each), each)


def _render_summary_sentence(name: str, action: str | None) -> str:
    top = build_parser([name])
    assert isinstance(top, TopParser)
    actions = top.verbs if action is None else _list_subparsers(top.verbs.choices[name])[0]
    wanted = action or name
    (text,) = (each.help or '' for each in actions._get_subactions() if each.dest == wanted)
    return f'{text[:1].upper()}{text[1:]}.'


def _render_options_table(verb: argparse.ArgumentParser) -> str:
    rows = [
        (_render_option_words(action), _render_option_meaning(action))
        for action in verb._actions
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
    ]
    table = render_table(('word', 'meaning'), rows) if rows else 'It takes no words.'
    settings = getattr(verb, 'settings', ())
    if not settings:
        return table
    rows = [(f'`{setting.name}`', _render_setting_meaning(setting)) for setting in settings]
    return f'{table}\n\n{render_table(("setting of `--settings`", "meaning"), rows)}'


def _render_setting_meaning(setting: Setting) -> str:
    default = '' if setting.default is None else f' (default: `{json.dumps(setting.default)}`)'
    return f'{setting.help}{default}'.replace('<', '&lt;').replace('*', '\\*')


def _render_option_words(action: argparse.Action) -> str:
    value = '' if action.nargs == 0 else _render_option_value(action)
    if not action.option_strings:
        return f'`{value}`'
    needed = ', needed' if action.required else ''
    names = ', '.join(action.option_strings)
    return f'`{names}{f" {value}" if value else ""}`{needed}'


def _render_option_value(action: argparse.Action) -> str:
    if action.choices is not None:
        return '{' + ','.join(map(str, action.choices)) + '}'
    placeholder = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    return str(placeholder)


def _render_option_meaning(action: argparse.Action) -> str:
    text = (action.help or '').replace('%%', '%').replace('<', '&lt;').replace('*', '\\*')
    takes_a_value = bool(action.option_strings) and action.nargs != 0
    given = action.default is not None and action.default != []
    if takes_a_value and given and 'default: ' not in text:
        return f'{text} (default: `{action.default}`)'
    return text


def main() -> None:
    """Write the page to `docs/command.md`."""
    FILE.write_text(render_page())


if __name__ == '__main__':
    main()

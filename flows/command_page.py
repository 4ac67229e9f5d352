"""Render the reference of the command, `docs/command.md`, from its parsers (`make docs`)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from coevo.command.main import build_parser
from coevo.options.parser import GROUPS, Parser, TopParser
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
        verb_parsers = [
            (verb, verb_parser)
            for verb in verbs
            if (verb_parser := _find_verb_parser(verb)) is not None
        ]
        blocks.append(f'## {title.capitalize()}')
        blocks += [
            block for verb, verb_parser in verb_parsers for block in _render_verb(verb, verb_parser)
        ]
    return '\n\n'.join(blocks) + '\n'


def _find_verb_parser(name: str) -> Parser | None:
    """Return the parser of a verb with all of its options; None if this coevo has no such verb."""
    top = build_parser([name])
    assert isinstance(top, TopParser)
    return top.verbs.choices.get(name)


def _render_verb(name: str, verb: Parser) -> Iterator[str]:
    yield f'### `coevo {name}`'
    yield verb.description or _render_help_sentence(name)
    yield f'```sh\n{verb.example}\n```'
    for inner in (a for a in verb._actions if isinstance(a, argparse._SubParsersAction)):
        for action, sub in inner.choices.items():
            yield f'`coevo {name} {action}`: {inner._get_subactions()[0].help}.'
            yield _render_options_table(sub)
    yield _render_options_table(verb)


def _render_help_sentence(name: str) -> str:
    top = build_parser([name])
    assert isinstance(top, TopParser)
    (text,) = (
        subaction.help for subaction in top.verbs._get_subactions() if subaction.dest == name
    )
    return f'{(text or "")[:1].upper()}{(text or "")[1:]}.'


def _render_options_table(verb: argparse.ArgumentParser) -> str:
    rows = [
        (_render_option_words(action), _render_option_meaning(action))
        for action in verb._actions
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
    ]
    return render_table(('word', 'meaning'), rows) if rows else 'It takes no words.'


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
    """Write the page."""
    FILE.write_text(render_page())


if __name__ == '__main__':
    main()

"""Settings: rare options of a verb, which are read from a TOML file and not from the command line.

`--settings FILE` reads them. `--print-settings` writes a file with all of them, their meanings and
their defaults.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.model.errors import Fatal
from coevo.storage.bounded_reading import UnreadableContent, load_file, parse_toml

_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A rare option of a verb.

    name     its key in the file and the attribute of the parsed arguments
    kind     bool, int, float, str or Path
    default  None: nothing is set, and --print-settings writes the line as a comment
    example  value of such a comment
    least    the least number, if there is one
    """

    name: str
    kind: type
    help: str
    default: Any = None
    example: Any = None
    least: int | None = None

    def parse(self, value: object, place: str) -> Any:
        """Return a value of the file as the verb takes it; a path becomes a Path.

        place  the name of the file, for the error message
        Raises: Fatal if it has another type, or is too small or too large.
        """
        wanted = str if self.kind is Path else self.kind
        if self.kind is float and type(value) is int and abs(value) < MOST_NUMBER:
            value = float(value)
        if type(value) is not wanted:
            raise Fatal(f'{place}: {self.name} is {value!r}; it must be {_KINDS[self.kind]}')
        if isinstance(value, int) and abs(value) >= MOST_NUMBER:
            raise Fatal(f'{place}: {self.name} is too large; it must be below {MOST_NUMBER}')
        if self.least is not None and isinstance(value, (int, float)) and value < self.least:
            raise Fatal(f'{place}: {self.name} is {value}; it must be {self.least} or more')
        return Path(str(value)) if self.kind is Path else value


# Whole numbers of settings are below it: they become sizes, seconds and seeds.
MOST_NUMBER = 1 << 32

_KINDS = {
    bool: 'true or false',
    int: 'a whole number',
    float: 'a number',
    str: 'a text',
    Path: 'a path, as text',
}


def load_settings(file: Path, settings: Sequence[Setting], verb: str) -> dict[str, Any]:
    """Return the values of a settings file by name, without those that it leaves out.

    Raises: Fatal if it cannot be read, is no TOML, or holds an unknown key or a wrong value.
    """
    try:
        content = parse_toml(load_file(file, most=_MOST_BYTES).decode())
    except (OSError, UnreadableContent, UnicodeDecodeError) as error:
        raise Fatal(
            f'{file} cannot be read ({error}); `{verb} --print-settings` writes one'
        ) from None
    except ValueError as error:
        raise Fatal(
            f'{file} is not valid TOML ({error}); `{verb} --print-settings` writes one'
        ) from None
    known = {setting.name: setting for setting in settings}
    for name in content:
        if name not in known:
            raise Fatal(
                f'{file} has {name!r}, which is not a setting of `{verb}`; its settings are '
                f'{", ".join(known)}'
            )
    return {name: known[name].parse(value, str(file)) for name, value in content.items()}


def render_default_settings(settings: Sequence[Setting], verb: str) -> str:
    """Return the text of a settings file with all defaults."""
    blocks = [f'# Settings of `{verb} --settings FILE`. A removed line keeps its default.']
    for setting in settings:
        value = setting.example if setting.default is None else setting.default
        line = f'{setting.name} = {_format_value(value)}'
        blocks.append(f'# {setting.help}\n{"# " * (setting.default is None)}{line}')
    return '\n\n'.join(blocks) + '\n'


def _format_value(value: object) -> str:
    """Return a value as TOML, which writes plain texts, numbers and booleans as JSON does."""
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)


class PrintSettings(argparse.Action):
    """`--print-settings`: print a settings file of the verb and end with status 0."""

    def __init__(self, *, render: Callable[[], str], **options: Any) -> None:
        super().__init__(nargs=0, default=argparse.SUPPRESS, **options)
        self._render = render

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the file."""
        print(self._render(), end='')
        parser.exit()

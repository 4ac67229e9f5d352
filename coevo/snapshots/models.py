"""Training cutoffs of models by name, each with where it was published; a user can add a file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import first_clean_moment

VERSION = 1

_HOW = 'a list of [[models]] with names, cutoff (2024-06 or 2024-06-30) and source'


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model under all of its names; `cutoff` is a day or a month, `source` who says so."""

    names: tuple[str, ...]
    cutoff: str
    source: str


def published() -> tuple[Model, ...]:
    """Those that come with coevo."""
    text = files('coevo.snapshots').joinpath('models.toml').read_text('utf-8')
    return tuple(_read(text, 'models.toml'))


def find_model(name: str, added: Path | None = None) -> Model:
    """The model of that name; an added file comes first. Fatal if nobody knows it: no cutoff, no
    clean data."""
    known: list[Model] = [*(_added(added) if added else ()), *published()]
    for model in known:
        if name.lower() in {each.lower() for each in model.names}:
            return model
    names = ', '.join(sorted({each for model in known for each in model.names}))
    raise Fatal(
        f'no training cutoff of {name!r} is known; give --after DATE, or --models FILE that tells '
        f'it. Known are: {names}'
    )


def _added(path: Path) -> Iterator[Model]:
    try:
        text = path.read_text('utf-8')
    except (OSError, UnicodeDecodeError):
        raise Fatal(f'{path} cannot be read: give --models a TOML file, {_HOW}') from None
    return _read(text, str(path))


def _read(text: str, place: str) -> Iterator[Model]:
    try:
        content: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Fatal(f'{place} is no TOML ({error}); it has to be {_HOW}') from None
    version, entries = content.get('version', VERSION), content.get('models')
    if version != VERSION or not isinstance(entries, list):
        raise Fatal(f'{place} has to be of version {VERSION}: {_HOW}')
    for entry in entries:
        yield _model(entry, place)


def _model(entry: Any, place: str) -> Model:
    match entry:
        case {'names': [*names], 'cutoff': str(cutoff), 'source': str(source)} if all(
            isinstance(name, str) for name in names
        ):
            first_clean_moment(cutoff)
            return Model(names=tuple(names), cutoff=cutoff, source=source)
    raise Fatal(f'{place} has an entry that is not complete ({entry}); it has to be {_HOW}')

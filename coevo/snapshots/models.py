"""Training cutoffs of models by name, each with its source; users can add a file of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import Cutoff, compute_first_clean_moment
from coevo.storage.bounded_reading import parse_toml

VERSION = 1

_HOW = (
    'a list of [[models]] with names, cutoff (2024-06 or 2024-06-30; left out where no source states '
    'one) and source'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A language model with all of its names.

    cutoff  a day or a month; None if its maker states none, so that no data is clean for it
    source  where the cutoff is stated, or where it would be if it were
    """

    names: tuple[str, ...]
    cutoff: str | None
    source: str


def load_published_models() -> tuple[LanguageModel, ...]:
    """Return the models that come with coevo."""
    text = files('coevo.snapshots').joinpath('models.toml').read_text('utf-8')
    return tuple(_parse_models(text, 'models.toml'))


def find_model(name: str, added: Sequence[LanguageModel] = ()) -> LanguageModel | None:
    """Return the model of that name, or None; those added take precedence.

    Case is ignored, and a space counts as a hyphen.
    """
    return next(
        (model for model in (*added, *load_published_models()) if _has_name(model, name)), None
    )


def read_models(path: Path) -> tuple[LanguageModel, ...]:
    """Return the models of a user's file. Raises: Fatal if it cannot be read or is malformed."""
    return tuple(_read_added_models(path))


def find_cutoff(name: str, added: Path | None = None) -> tuple[str, str]:
    """Return the training cutoff of a model, and its source.

    Raises: Fatal if no cutoff is known: without one, no data is known to be clean.
    """
    known = _list_known_models(added)
    model = next((model for model in known if _has_name(model, name)), None)
    if model is not None and model.cutoff is not None:
        return model.cutoff, model.source
    if model is not None:
        raise Fatal(
            f'no source states a training cutoff of {name!r} (it would have to stand in '
            f'{model.source}); give --only-after DATE, or the setting `models` with a file that tells it'
        )
    names = ', '.join(
        sorted({each for known_model in known if known_model.cutoff for each in known_model.names})
    )
    raise Fatal(
        f'no training cutoff of {name!r} is known; give --only-after DATE, or the setting `models` with a '
        f'file that tells it. Known are: {names}'
    )


def _list_known_models(added: Path | None) -> list[LanguageModel]:
    return [*(_read_added_models(added) if added else ()), *load_published_models()]


def _has_name(model: LanguageModel, name: str) -> bool:
    wanted = name.strip().lower().replace(' ', '-')
    return wanted in {each.lower() for each in model.names}


def choose_cutoff(
    *,
    after: str | None = None,
    before: str | None = None,
    model: str | None = None,
    margin: int = 0,
    models: Path | None = None,
) -> Cutoff | None:
    """Return the cutoff that the options ask for; None if there is no limit.

    Raises: Fatal for a margin or a file of models without a cutoff, and for two cutoffs.
    """
    if after is not None and model is not None:
        raise Fatal('--only-after and --only-unseen-by are two cutoffs: give one of them')
    if model is not None:
        date, source = find_cutoff(model, models)
        because = f'{model}, says {source}'
        return Cutoff(date=date, margin_days=margin, because=because, before=before)
    if after is None and (margin or models):
        raise Fatal(
            'the settings margin_days and models need a cutoff beside them: --only-after DATE or --only-unseen-by NAME'
        )
    if after is None and before is None:
        return None
    return Cutoff(date=after, margin_days=margin, before=before)


def _read_added_models(path: Path) -> Iterator[LanguageModel]:
    try:
        text = path.read_text('utf-8')
    except (OSError, UnicodeDecodeError):
        raise Fatal(
            f'{path} cannot be read: give the setting `models` a TOML file, {_HOW}'
        ) from None
    return _parse_models(text, str(path))


def _parse_models(text: str, place: str) -> Iterator[LanguageModel]:
    try:
        content: dict[str, Any] = parse_toml(text)
    except ValueError as error:
        raise Fatal(f'{place} is no TOML ({error}); it has to be {_HOW}') from None
    version, entries = content.get('version', VERSION), content.get('models')
    if version != VERSION or not isinstance(entries, list):
        raise Fatal(f'{place} has to be of version {VERSION}: {_HOW}')
    for entry in entries:
        yield _parse_model(entry, place)


def _parse_model(entry: Any, place: str) -> LanguageModel:
    match entry:
        case {'names': [*names], 'source': str(source)} if all(
            isinstance(name, str) for name in names
        ):
            return LanguageModel(
                names=tuple(names), cutoff=_parse_cutoff(entry, place), source=source
            )
    raise Fatal(f'{place} has an entry that is not complete ({entry}); it has to be {_HOW}')


def _parse_cutoff(entry: dict[str, Any], place: str) -> str | None:
    cutoff = entry.get('cutoff')
    if cutoff is None:
        return None
    if not isinstance(cutoff, str):
        raise Fatal(f'{place} has a cutoff that is no text ({cutoff!r}); it has to be {_HOW}')
    compute_first_clean_moment(cutoff)
    return cutoff

"""Training cutoffs: days and months as moments, and the cutoffs of models by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from coevo.model.errors import Fatal
from coevo.storage.bounded_reading import parse_toml

# Training cutoffs: a day means the end of that day in UTC, a month the end of its last day.

# A task leaks if its start state shows text that is new in its pair and is nearly the answer.

LEAST_LEAK = 0.6
"""Share of gold's text from which a task leaks; benchmarks/leaks.md says how it was chosen."""


def build_no_leak_condition() -> str:
    """Return the SQL condition for methods and tasks that do not leak.

    An unknown leak counts as none.
    """
    return f'coalesce(leak, 0) < {LEAST_LEAK}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoff:
    """The time in which something must have become public: after a training cutoff, before an end.

    date         training cutoff, YYYY-MM-DD or YYYY-MM; None is no limit
    margin_days  whole days that are added to the cutoff
    because      what the date rests on, for messages; empty if the user named the date
    before       a day or month: only what was public before it began; None is no limit
    """

    date: str | None = None
    margin_days: int = 0
    because: str = ''
    before: str | None = None

    @property
    def end(self) -> datetime | None:
        """The first moment that is too late; None if there is no end.

        Raises: Fatal if `before` is no date.
        """
        return None if self.before is None else parse_first_moment(self.before)

    @property
    def first_clean(self) -> datetime | None:
        """The earliest time that is clean; None without a cutoff.

        Raises: Fatal if the cutoff is no date, the margin negative, or the time beyond all dates.
        """
        if self.date is None:
            return None
        if self.margin_days < 0:
            raise Fatal(
                f'a margin of {self.margin_days} days would let leaks through: give 0 or more'
            )
        try:
            return compute_first_clean_moment(self.date) + timedelta(days=self.margin_days)
        except OverflowError:
            raise Fatal(f'a margin of {self.margin_days} days is beyond all dates') from None

    @property
    def last_day_not_clean(self) -> str | None:
        """The last day that is not clean, with the margin, as YYYY-MM-DD; None without a cutoff."""
        clean = self.first_clean
        return f'{clean - timedelta(days=1):%F}' if clean else None

    @property
    def after_words(self) -> str:
        """The cutoff in words, such as `after 2025-06 + 30 days`; empty without one."""
        margin = f' + {self.margin_days} days' * bool(self.margin_days)
        because = f' ({self.because})' * bool(self.because)
        return f'after {self.date}{margin}{because}' if self.date else ''

    @property
    def before_words(self) -> str:
        """The end in words, such as `before 2026-01`; empty without one."""
        return f'before {self.before}' if self.before else ''

    def __str__(self) -> str:
        return f'{self.after_words} {self.before_words}'.strip()


def parse_first_moment(date: str) -> datetime:
    """Return the beginning of a day (YYYY-MM-DD) or month (YYYY-MM) in UTC.

    Raises: Fatal if the text is neither.
    """
    try:
        form = '%Y-%m' if len(date) == len('2024-06') else '%Y-%m-%d'
        return datetime.strptime(date, form).replace(tzinfo=UTC)
    except ValueError:
        raise _make_cutoff_error(date) from None


def compute_first_clean_moment(cutoff: str) -> datetime:
    """Return the earliest time that is strictly later than a cutoff, YYYY-MM-DD or YYYY-MM.

    Raises: Fatal if the text is neither.
    """
    start = parse_first_moment(cutoff)
    try:
        if len(cutoff) == len('2024-06'):
            return (start + timedelta(days=31)).replace(day=1)
        return start + timedelta(days=1)
    except OverflowError:
        raise _make_cutoff_error(cutoff) from None


def _make_cutoff_error(text: str) -> Fatal:
    return Fatal(f'{text!r} is no cutoff: write a day, 2024-06-30, or a month, 2024-06')


# SQL macros: `clean` of a date and a cutoff, and `clean` of a cutoff, which selects methods. A date
# that is null is never clean, nothing is clean under a null cutoff, and a method that leaks is not
# clean, nor is one of a task that was public earlier by another of its methods. The comparison has a
# form by which DuckDB can skip row groups.
MACROS = (
    """
CREATE MACRO clean(contamination_date, cutoff) AS
    contamination_date IS NOT NULL AND cutoff IS NOT NULL AND contamination_date >= (CASE
        WHEN length(cutoff::VARCHAR) < 7 THEN
            error('a cutoff is a day, 2024-06-30, or a month, 2024-06')::VARCHAR::DATE
        WHEN length(cutoff::VARCHAR) = 7 THEN (cutoff::VARCHAR || '-01')::DATE + INTERVAL 1 MONTH
        ELSE cutoff::VARCHAR::DATE + INTERVAL 1 DAY
    END) AT TIME ZONE 'UTC'
""",
    f"""
CREATE MACRO clean(cutoff) AS TABLE
    SELECT * FROM methods WHERE {build_no_leak_condition()} AND clean(contamination_date, cutoff)
        AND (task_id IS NULL OR task_id IN (
            SELECT task_id FROM tasks WHERE clean(contamination_date, cutoff)))
""",
)


# Training cutoffs of models by name, each with its source; users can add a file of their own.

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

"""Runtimes for want of which pairs were dropped, and how a person comes by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from coevo.command.doctor_verb import LANGUAGES_BY_WORD
from coevo.languages.table import LANGUAGES
from coevo.model.reasons import Reason
from coevo.model.segment import Segment


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MissingRuntime:
    """A release of a language's runtime that a pair was dropped for want of.

    `str()` gives the name that `coevo doctor --install` takes, if it can install it: `jdk-21`.
    """

    language: str
    release: str

    def __str__(self) -> str:
        return f'{LANGUAGES[self.language].RUNTIME.lower()}-{self.release}'

    @property
    def title(self) -> str:
        """The name in a sentence, such as `JDK 21`."""
        return f'{LANGUAGES[self.language].RUNTIME} {self.release}'

    @property
    def is_installable(self) -> bool:
        """True if `coevo doctor --install` can install it."""
        word = LANGUAGES[self.language].RUNTIME.lower()
        return LANGUAGES_BY_WORD.get(word) == self.language and self.release in _list_installable(
            self.language
        )


def count_missing_runtimes(
    segments: Iterable[Segment],
) -> tuple[tuple[MissingRuntime, int], ...]:
    """Return the runtimes that pairs were dropped for want of, each with their number, sorted."""
    counts = Counter(
        MissingRuntime(language=segment.pair.language, release=segment.pair.runtime_missing)
        for segment in segments
        if segment.pair.runtime_missing is not None
        and any(drop.reason == Reason.RUNTIME_MISSING for drop in segment.drops)
    )
    return tuple(sorted(counts.items()))


def advise_installation(runtimes: Iterable[MissingRuntime]) -> str:
    """Return a clause on how to install some runtimes: by a command, or without coevo."""
    ordered = sorted(runtimes)
    names = [str(runtime) for runtime in ordered if runtime.is_installable]
    others = [runtime.title for runtime in ordered if not runtime.is_installable]
    clauses = [f'run `coevo doctor --install {" ".join(names)}`'] if names else []
    if others:
        clauses.append(f'install {" and ".join(others)}, which coevo doctor cannot')
    return ', and '.join(clauses)


@cache
def _list_installable(language: str) -> frozenset[str]:
    return frozenset(LANGUAGES[language].make_runtimes().installable)

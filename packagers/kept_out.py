"""Count the rows that licences keep out of a release, and say what can be done about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from coevo.model.reasons import Reason
from coevo.model.words import Stage
from packagers.rows import Rows

KEPT_OUT = 'kept out of a release'
# Repositories that are named; there may be thousands.
_MOST = 10


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class KeptOut:
    """Rows of a repository that one licence keeps out of a release.

    licence    its SPDX expression; None if there is none that coevo knows
    is_silent  whether the revisions say nothing of a licence
    methods    number of labelled test methods; a task may have several
    files      number of test files of revisions
    """

    repo: str
    licence: str | None
    is_silent: bool = False
    methods: int = 0
    files: int = 0

    def __str__(self) -> str:
        counts = ' and '.join(
            f'{count} {name}{"" if count == 1 else "s"}'
            for count, name in ((self.methods, 'labelled test method'), (self.files, 'test file'))
            if count
        )
        return f'{KEPT_OUT}: {counts} of {self.repo}, since {self._explain_kept_out}'

    @property
    def _explain_kept_out(self) -> str:
        if self.licence is not None:
            return (
                f'their licence {self.licence} is not approved by the OSI; `coevo release '
                '--accept-licence` takes them in'
            )
        if self.is_silent:
            return (
                'no licence was found at their commits; add a LICENSE, commit it and mine again, or mine '
                'for yourself alone with --private'
            )
        return (
            'the licence file at their commits is none that coevo knows; mine for yourself alone with '
            '--private'
        )


def count_kept_out(rows: Rows, is_silent: Callable[[str, str], bool]) -> Iterator[KeptOut]:
    """Yield what licences kept out of a release, by repository and licence.

    rows       of the release; its drops name what was kept out
    is_silent  returns whether a repository says nothing of a licence at a revision
    """
    reasons = (Reason.LICENCE_UNKNOWN, Reason.LICENCE_NOT_OSI)
    pairs = {(pair.pair_id, pair.walk): pair for pair in rows.pairs}
    counts: Counter[tuple[str, str | None, bool, str]] = Counter()
    for drop in rows.drops:
        pair = pairs.get((drop.pair_id or '', drop.walk))
        is_method = drop.stage is Stage.PUBLISH and drop.reason in reasons
        is_file = drop.reason == Reason.FILE_NOT_PUBLISHED
        if pair is None or not (is_method or is_file):
            continue
        licence = pair.license or pair.later_license
        silent = licence is None and is_silent(pair.repo, pair.new_rev)
        counts[pair.repo, licence, silent, 'methods' if is_method else 'files'] += 1
    yield from build_kept_out_records(counts)


def build_kept_out_records(counts: Counter[tuple[str, str | None, bool, str]]) -> Iterator[KeptOut]:
    """Yield the rows kept out, by repository, licence and silence.

    counts  by repository, licence, silence, and `methods` or `files`
    """
    groups = sorted({key[:3] for key in counts}, key=str)
    for repo, licence, silent in groups:
        yield KeptOut(
            repo=repo,
            licence=licence,
            is_silent=silent,
            methods=counts[repo, licence, silent, 'methods'],
            files=counts[repo, licence, silent, 'files'],
        )


def describe_kept_out(found: Sequence[KeptOut]) -> Iterable[str]:
    """Return a sentence for each group of rows kept out, the largest first; empty if none.

    Of more than ten groups, the last sentence says how many more there are.
    """
    ordered = sorted(found, key=lambda group: (-group.methods - group.files, str(group)))
    sentences = [str(group) for group in ordered[:_MOST]]
    more = len(ordered) - _MOST
    return (*sentences, f'and of {more} more repositories and licences') if more > 0 else sentences

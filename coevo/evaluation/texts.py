"""The texts of the tasks that a command needs, fetched where a code-free edition lacks them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.display.terminal import hide_credentials
from coevo.evaluation.assignments import list_withheld_ids
from coevo.evaluation.reporting.cells import pluralise
from coevo.model.errors import DamagedSnapshot, Transient
from coevo.model.listener import Listener, Say
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.code_free.filling import (
    FillReport,
    FillSelection,
    RepositoryFilling,
    fill_edition,
)
from coevo.snapshots.copying import WHOLE, choose_download_folder
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import (
    compute_release_sha256,
    has_withheld_texts,
    load_manifest_at,
    withholds_gold,
)
from coevo.snapshots.snapshot import format_filling_command

# Most reasons, and most characters of each, that a sentence repeats from Git.
_MOST_REASONS, _MOST_REASON = 2, 160
_LACKED = re.compile(r' lacks [0-9]+ of [0-9]+ files$|^first lacking is ')


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedTexts:
    """A snapshot with the texts of the tasks that are asked for.

    snapshot  the one given, or a folder that is filled
    lacking   ids of tasks whose texts cannot be had for now
    """

    snapshot: str
    lacking: frozenset[str] = frozenset()


def lacks_fetchable_texts(place: str) -> bool:
    """Return whether a snapshot withholds texts that can be fetched."""
    manifest = load_manifest_at(resolve_location(place))
    return has_withheld_texts(manifest) and not withholds_gold(manifest)


def provide_texts(
    place: str, tasks: Collection[str], clones: Path | None, say: Say
) -> ProvidedTexts:
    """Fetch the texts of these tasks if the snapshot lacks them, and return a snapshot with them.

    That is the snapshot given, or a folder that is filled. Only missing texts of these tasks are
    fetched. Tasks whose texts cannot be had are named with Git's message, since a repository that
    is gone must not stop the run of all others.
    Raises: Transient if no text can be had for now; DamagedSnapshot if edition or clone is damaged.
    """
    if not lacks_fetchable_texts(place):
        return ProvidedTexts(snapshot=place)
    out = _choose_text_folder(place)
    start = str(out) if (out / MANIFEST).is_file() else place
    missing = sorted(set(tasks) & list_withheld_ids(start))
    if not missing:
        return ProvidedTexts(snapshot=start)
    say(f'fetching the texts of {pluralise(len(missing), "task")} into {out}')
    listener = Listener(step=lambda step, done, total: say(f'{step}: {done} of {total}'))
    report = fill_edition(place, out, clones, FillSelection(tasks=tuple(missing)), listener)
    if report.is_complete:
        return ProvidedTexts(snapshot=str(out))
    if report.folder is not None and report.folder.is_refused:
        raise DamagedSnapshot(' '.join(report.sentences))
    return _report_lacking_texts(report, set(tasks), start, say)


def describe_unanswered(place: str, count: int, total: int) -> str:
    """Return a sentence about tasks of an edition that are not graded, for want of a prediction."""
    return (
        f'{count} of {pluralise(total, "task")} without a prediction are not counted: to count them '
        f'as failed, fetch all texts by {format_filling_command(place)} and evaluate '
        f'{_choose_text_folder(place)}'
    )


def _choose_text_folder(place: str) -> Path:
    """Return the folder that gets the texts: the usual one, unless it has something else.

    The month's folder may hold a release of one's own, or editions one level down.
    """
    out = choose_download_folder(place)
    if out.name.endswith(WHOLE) or not out.exists():
        return out
    release = compute_release_sha256(resolve_location(place))
    if (out / MANIFEST).is_file() and release == compute_release_sha256(resolve_location(out)):
        return out
    return out.with_name(f'{out.name}-{WHOLE}')


def _report_lacking_texts(
    report: FillReport, tasks: Collection[str], start: str, say: Say
) -> ProvidedTexts:
    """Say which tasks are left out and why, and return the snapshot with the ids of these tasks.

    Raises: Transient if no task is left.
    """
    whys = describe_lacking(report.lacking)
    snapshot = start if report.folder is None else str(report.out)
    lacking = list_withheld_ids(snapshot).intersection(tasks)
    if len(lacking) == len(tasks):
        raise Transient(
            f'{whys}; without these texts no task is left: name a folder that has clones with '
            '--clones DIR, or other tasks with --only-tasks'
        )
    say(whys)
    say(
        f'{pluralise(len(lacking), "task")} left out without these texts, '
        f'which the same command asks for again: {", ".join(sorted(lacking))}'
    )
    return ProvidedTexts(snapshot=snapshot, lacking=lacking)


def describe_lacking(lacking: Sequence[RepositoryFilling]) -> str:
    """Return a short sentence about repositories whose texts cannot be had, one clause a reason.

    Without a network each repository has the same reason, but for its own name in it.
    """
    by_reason: dict[str, list[RepositoryFilling]] = defaultdict(list)
    for each in lacking:
        by_reason[_generalise(each)].append(each)
    ordered = sorted(by_reason.values(), key=lambda group: (-len(group), group[0].repo))
    return '; '.join(_describe_groups(ordered))


def _describe_groups(groups: Sequence[Sequence[RepositoryFilling]]) -> Iterator[str]:
    for group in groups[:_MOST_REASONS]:
        first, more = group[0], len(group) - 1
        names = f'{first.repo} and {more} more' if more else first.repo
        yield f'the texts of {names} cannot be had: {_shorten(_select_reason(first))}'
    rest = sum(map(len, groups[_MOST_REASONS:]))
    if rest:
        yield f'nor those of {rest} more'


def _select_reason(filling: RepositoryFilling) -> str:
    """Return why a repository could not be fetched; if none was tried, what its clones lack."""
    clauses = filling.why.split('; ')
    return '; '.join(filter(lambda clause: not _LACKED.search(clause), clauses)) or filling.why


def _generalise(filling: RepositoryFilling) -> str:
    """Return the reason without the repository's name and without numbers, so that equal ones meet."""
    owner, _, name = filling.repo.partition('/')
    reason = _select_reason(filling).replace(filling.repo, '').replace(f'{owner}+{name}', '')
    return re.sub(r'[0-9]+', '', reason)


def _shorten(reason: str) -> str:
    line = ' '.join(hide_credentials(reason).split())  # first: a cut URL is not seen to be one
    return line if len(line) <= _MOST_REASON else f'…{line[-_MOST_REASON:]}'

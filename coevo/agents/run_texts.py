"""The texts of the tasks of a run: fetched before the attempts, and kept for the next call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import list_withheld_ids
from coevo.evaluation.reporting.cells import pluralise
from coevo.model.errors import DamagedSnapshot, Transient
from coevo.model.listener import Listener, Say
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.code_free.filling import FillReport, FillSelection, fill_edition
from coevo.snapshots.copying import WHOLE, choose_download_folder
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import (
    compute_release_sha256,
    has_withheld_texts,
    load_manifest_at,
    withholds_gold,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTexts:
    """A snapshot with the texts of the tasks of a run.

    snapshot  the one given, or a folder that is filled
    lacking   ids of tasks whose texts cannot be had for now
    """

    snapshot: str
    lacking: frozenset[str] = frozenset()


def provide_texts(place: str, tasks: Collection[str], clones: Path | None, say: Say) -> RunTexts:
    """Fetch the texts of these tasks if the snapshot lacks them, and return a snapshot with them.

    That is the snapshot given, or a folder that is filled. Only missing texts of these tasks are
    fetched. Tasks whose texts cannot be had are named with Git's message, since a repository that
    is gone must not stop the run of all others.
    Raises: Transient if no text can be had for now; DamagedSnapshot if edition or clone is damaged.
    """
    manifest = load_manifest_at(resolve_location(place))
    if not has_withheld_texts(manifest) or withholds_gold(manifest):
        return RunTexts(snapshot=place)
    out = _choose_folder(place)
    start = str(out) if (out / MANIFEST).is_file() else place
    missing = sorted(set(tasks) & list_withheld_ids(start))
    if not missing:
        return RunTexts(snapshot=start)
    say(f'fetching the texts of {pluralise(len(missing), "task")} into {out}')
    listener = Listener(step=lambda step, done, total: say(f'{step}: {done} of {total}'))
    report = fill_edition(place, out, clones, FillSelection(tasks=tuple(missing)), listener)
    if report.is_complete:
        return RunTexts(snapshot=str(out))
    if report.folder is not None and report.folder.is_refused:
        raise DamagedSnapshot(' '.join(report.sentences))
    return _report_lacking_texts(report, set(tasks), start, say)


def _choose_folder(place: str) -> Path:
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
) -> RunTexts:
    """Say which tasks are left out and why, and return the snapshot with the ids of these tasks.

    Raises: Transient if no task is left.
    """
    whys = '; '.join(map(str, report.lacking))
    snapshot = start if report.folder is None else str(report.out)
    lacking = list_withheld_ids(snapshot).intersection(tasks)
    if len(lacking) == len(tasks):
        raise Transient(f'{whys}; without these texts no task is left: name others by --only-tasks')
    say(whys)
    say(
        f'{pluralise(len(lacking), "task")} left out without these texts, '
        f'which the same command asks for again: {", ".join(sorted(lacking))}'
    )
    return RunTexts(snapshot=snapshot, lacking=lacking)

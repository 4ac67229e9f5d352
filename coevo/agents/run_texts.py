"""The texts of the tasks of a run: fetched before they are attempted, and kept for the next call."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from coevo.evaluation.assignments import list_withheld_ids
from coevo.evaluation.reporting.cells import pluralise
from coevo.model.errors import Transient
from coevo.model.listener import Listener, Say
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.code_free.blobs import CloneLocations
from coevo.snapshots.code_free.filling import FillSelection, fill_edition
from coevo.snapshots.copying import choose_target
from coevo.snapshots.manifests import has_withheld_texts, load_manifest_at


def provide_texts(place: str, tasks: Collection[str], store: Path | None, say: Say) -> str:
    """Return a snapshot with the texts of these tasks: the one given, or a folder that is filled.

    Only the texts of these tasks are fetched, unless they are there already.

    Raises: Transient if some cannot be had for now, with what Git said.
    """
    if not has_withheld_texts(load_manifest_at(resolve_location(place))):
        return place
    out = choose_target(place)
    start = str(out) if (out / 'manifest.json').is_file() else place
    missing = sorted(set(tasks) & list_withheld_ids(start))
    if not missing:
        return start
    say(f'fetching the texts of {pluralise(len(missing), "task")} into {out}')
    listener = Listener(step=lambda step, done, total: say(f'{step}: {done} of {total}'))
    clones = CloneLocations(store=store)
    report = fill_edition(place, out, clones, FillSelection(tasks=tuple(missing)), listener)
    if not report.is_complete:
        raise Transient('; '.join(map(str, report.lacking)) or ' '.join(report.sentences))
    return str(out)

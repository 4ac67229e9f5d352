"""Check that a store is private or not, and list the rows that licences keep out of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from coevo.git.repository import CorruptObject, Repository
from coevo.model.errors import Fatal
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from flows.licence import find_spdx_expression, is_silent_on_licences
from packagers.kept_out import build_kept_out_records, describe_kept_out
from packagers.licensing import check_licence


def check_and_mark_privacy(store: Store, repo: str, *, is_private: bool) -> None:
    """Check that a run and its store are both private or both not; mark a new store as private.

    The mark is on the store, since a release is of all that a store holds. A store with other
    repositories does not get it: they would become unpublishable.

    Raises: Fatal if the store is the other kind.
    """
    if is_private:
        refuse_object_store(store.root)
    if store.is_private() and not is_private:
        raise Fatal(f'{store.root} is private: add --private, or name another store by --store')
    if is_private and not store.is_private():
        others = sorted({partition.repo for partition in store.list_partitions()} - {repo})
        if others:
            raise Fatal(
                f'{store.root} holds {others[0]}{f" and {len(others) - 1} more" if len(others) > 1 else ""}, '
                'which a private store would keep from being published: name another by --store'
            )
        store.mark_private()


def refuse_object_store(root: Root) -> None:
    """Raise Fatal for a store that is no folder: what it holds would leave this machine."""
    if not isinstance(root, Path):
        raise Fatal(
            f'{root} is not on this machine: name a folder for a private project by --store'
        )


def describe_kept_out_rows(
    store: Store, partitions: Sequence[Partition], repository: Repository
) -> tuple[str, ...]:
    """Return sentences about the labelled tests and files that licences keep out of a release.

    Empty if there are none.
    """
    counts: Counter[tuple[str, str | None, bool, str]] = Counter()
    for partition in partitions:
        later = find_spdx_expression(repository, store.load_walk(partition).repository.head)
        for segment in store.load_segments(partition):
            rev, files = segment.pair.new_rev, [f for f in segment.single_revision if f.adequacy]
            if not segment.methods and not files:
                continue
            try:
                licence = find_spdx_expression(repository, rev)
            except CorruptObject:
                continue  # the release says what it cannot read
            silent = licence is None and is_silent_on_licences(repository, rev)
            governing = later if silent else licence
            if check_licence(governing, ()) is not None:
                counts[partition.repo, governing, silent, 'methods'] += len(segment.methods)
                counts[partition.repo, governing, silent, 'files'] += len(files)
    return tuple(describe_kept_out(tuple(build_kept_out_records(counts))))

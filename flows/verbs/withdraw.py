"""The verb `coevo pipeline withdraw`: leave a repository, pair or task out of all further releases."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from coevo.model.errors import Fatal
from coevo.options.parser import PIPELINE_STEPS, Parser
from flows.verbs.arguments import add_store_option

if TYPE_CHECKING:
    from coevo.storage.store import Store
    from coevo.storage.withdrawals import WithdrawnKind


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `withdraw` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'withdraw',
        help=PIPELINE_STEPS['withdraw'],
        description='Take a repository, a pair or a task back. Months that were released stay as they '
        'are; from the next one on it is left out, and `withdrawn` tells why.',
        example="coevo pipeline withdraw --repository owner/name --reason 'its owners asked for it'",
    )
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument('--repository', metavar='OWNER/NAME', help='all of a repository')
    which.add_argument('--pair', metavar='PAIR_ID', help='a pair, in every walk')
    which.add_argument('--task', metavar='TASK_ID', help='a task; its methods keep their labels')
    verb.add_argument('--reason', required=True, metavar='TEXT', help='what readers are told')
    add_store_option(verb)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from coevo.storage import withdrawals
    from coevo.storage.store import Store
    from coevo.storage.withdrawals import Withdrawal

    kind, id_ = _parse_target(arguments)
    reason = ' '.join(arguments.reason.split())
    if not reason:
        raise Fatal('--reason is empty; say in a few words why, for those who miss it')
    store = Store(arguments.store)
    _check_exists(store, kind, id_)
    withdrawal = withdrawals.add_or_find_withdrawal(
        store.storage, Withdrawal(kind=kind, id=id_, reason=reason)
    )
    print(
        f'{kind} {id_} is left out of releases from the next month on ({withdrawal.reason}); '
        f'{store.storage.describe(f"{withdrawals.FOLDER}/{withdrawal.number}.json")} says so'
    )
    return 0


def _parse_target(arguments: argparse.Namespace) -> tuple[WithdrawnKind, str]:
    from coevo.storage.withdrawals import WithdrawnKind

    for kind in WithdrawnKind:
        id_ = getattr(arguments, str(kind))
        if id_ is not None:
            return kind, id_
    raise AssertionError('one of them is required')


def _check_exists(store: Store, kind: WithdrawnKind, id_: str) -> None:
    """Raise Fatal for an id that the store does not have: a typing error would withdraw nothing."""
    from coevo.storage.withdrawals import WithdrawnKind
    from flows.crawling.crawls import load_latest_stamps, load_rows_by_repo_and_profile
    from packagers.drafts import compute_method_task_id

    if kind is WithdrawnKind.REPOSITORY:
        if id_ not in load_rows_by_repo_and_profile(store.root, load_latest_stamps(store.root)):
            store.list_repository_partitions(id_)  # raises Fatal
        return
    for partition in store.list_partitions():
        if kind is WithdrawnKind.PAIR:
            exists = id_ in {pair_id for _, pair_id in store.load_walk(partition).pairs}
        else:
            rows = (
                row for segment in store.load_current_segments(partition) for row in segment.methods
            )
            exists = any(
                row.track is not None and compute_method_task_id(row) == id_ for row in rows
            )
        if exists:
            return
    raise Fatal(f'{store.root} has no {kind} {id_!r}: look it up in a snapshot with `coevo query`')

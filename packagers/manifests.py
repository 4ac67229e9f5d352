"""Write the manifest: the input of a snapshot, and the checksum of every reproducible file."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coevo.model import licences
from coevo.model.quality import WITHOUT_SIBLINGS, SiblingState
from coevo.model.reasons import Reason
from coevo.model.repository_rows import RepositoryRow
from coevo.model.schema import SCHEMA_MINOR, SCHEMA_VERSION, TABLES
from coevo.prompts import compute_canary
from coevo.snapshots.cutoffs import LEAST_LEAK
from coevo.storage.months import MonthCohort
from coevo.storage.store import Partition
from packagers.funnel import RepositoryNews, format_news
from packagers.rows import Rows

# This table is outside of the checksums, since its seconds differ from run to run.
UNCHECKED = 'timings'

Checksums = dict[str, dict[str, str | int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotDetails:
    """Facts about a snapshot beside its rows.

    reached  until when each walk has seen all commits, if the snapshot belongs to a month
    news     the changes since the snapshot before it
    is_private  whether it is for its owner alone
    cohort   the repositories that the month had to hold; None if that is unknown
    """

    month: str
    parameters: Mapping[str, str | int | float | None]
    unmined: Mapping[Partition, int]
    reached: Mapping[Partition, datetime | None] = field(default_factory=dict)
    news: tuple[RepositoryNews, ...] = ()
    is_private: bool = False
    cohort: MonthCohort | None = None


def compute_checksums(folder: Path, files: Iterable[Path]) -> Checksums:
    """Return SHA-256 and size in bytes of files, by path in the snapshot.

    The table `timings` is left out.
    """
    return {
        file.relative_to(folder).as_posix(): {
            'sha256': _hash_file(file),
            'size': file.stat().st_size,
        }
        for file in files
        if UNCHECKED not in file.parts
    }


def _hash_file(file: Path) -> str:
    with file.open('rb') as content:
        return hashlib.file_digest(content, 'sha256').hexdigest()


def render_manifest(rows: Rows, about: SnapshotDetails, files: Checksums) -> str:
    """Return the manifest as JSON with sorted keys and a final newline."""
    content = {
        'schema_version': SCHEMA_VERSION,
        'schema_minor': SCHEMA_MINOR,
        'month': about.month,
        'canary': compute_canary(about.month),
        'parameters': dict(about.parameters),
        'tools': _list_tool_versions(rows),
        'walks': [_describe_walk(row, about) for row in rows.repositories],
        'rows': {name: len(getattr(rows, name)) for name in TABLES if name != UNCHECKED},
        'siblings': count_tasks_affected_by_siblings(rows),
        'news': format_news(about.news),
        'files': files,
        **({'private': True} if about.is_private else {}),
        **({'cohort': _describe_cohort(about.cohort)} if about.cohort is not None else {}),
    }
    return f'{json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)}\n'


def count_tasks_affected_by_siblings(rows: Rows) -> dict[str, int | float]:
    """Count tasks by what their siblings mean for them.

    These are tasks that share a pair, that leak, that have siblings which stay, and that were lost
    since gold fails without the siblings.
    """
    pairs = Counter[str]()
    leaking = staying = 0
    for task in rows.tasks:
        pairs[task.pair_id] += 1
        leaking += (task.leak or 0) >= LEAST_LEAK
        staying += any(sibling.undone is SiblingState.STAYS for sibling in task.siblings or ())
    return {
        'leak_threshold': LEAST_LEAK,
        'tasks_that_leak': leaking,
        'tasks_that_share_a_pair': sum(count for count in pairs.values() if count > 1),
        'tasks_with_siblings_that_stay': staying,
        'tasks_lost': sum(
            drop.reason == Reason.START_STATE_INVALID
            and (drop.detail or '').startswith(WITHOUT_SIBLINGS)
            for drop in rows.drops
        ),
    }


def _list_tool_versions(rows: Rows) -> dict[str, list[Any]]:
    """Return the versions of tools that the store recorded, not those of the releasing machine."""
    runtimes, builders, sandboxes = set[str | None](), set[str | None](), set[str]()
    measuring: dict[str, set[str]] = defaultdict(set)
    engines = set[str]()
    for pair in rows.pairs:
        engines.add(pair.engine_version or '')
        runtimes.add(pair.runtime)
        builders |= {pair.builder_old, pair.builder_new}
        sandboxes.add(pair.sandbox)
        for name, _, version in (tool.partition(' ') for tool in pair.tools):
            measuring[name].add(version)
    return {
        **{name: sorted(versions) for name, versions in measuring.items()},
        'licences': [licences.load_approved_list_version()],
        'engine': sorted(engines),
        'runtime': sorted(filter(None, runtimes)),
        'builder': sorted(filter(None, builders)),
        'build_tool': sorted({row.environment.build_tool for row in rows.environments}),
        'sandbox': sorted(sandboxes),
    }


def _describe_cohort(cohort: MonthCohort) -> dict[str, Any]:
    return {
        'repositories': len(cohort.members),
        'complete': cohort.is_complete,
        'missing': [
            {'repo': each.repo, 'reason': str(each.reason), 'detail': each.detail}
            for each in cohort.missing
        ],
        'unvalidated': cohort.unvalidated,
        'left': [{'repo': each.repo, 'reason': each.reason} for each in cohort.left],
    }


def _describe_walk(row: RepositoryRow, about: SnapshotDetails) -> dict[str, Any]:
    partition = Partition(repo=row.repo, language=row.language, walk=row.walk)
    return {
        'repo': row.repo,
        'language': row.language,
        'walk': row.walk,
        'ref': row.ref,
        'head': row.head,
        'cutoff': _format_moment(row.cutoff),
        'reached': _format_moment(about.reached.get(partition)),
        'commits_visited': row.commits_visited,
        'commits_kept': row.commits_kept,
        'pairs_unmined': about.unmined.get(partition, 0),
        'profile': row.profile,
        'engine_version': row.engine_version,
    }


def _format_moment(date: datetime | None) -> str | None:
    return None if date is None else date.astimezone(UTC).isoformat()

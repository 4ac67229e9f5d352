"""Release a store as a snapshot: connect the parts of a release."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path

from coevo.display.terminal import hide_credentials, strip_credentials_and_query
from coevo.git.clones import PROTOCOLS
from coevo.model.errors import Fatal, IncompleteMonth
from coevo.model.listener import SILENT, Listener
from coevo.storage import months
from coevo.storage.months import MonthCohort, MonthRecord
from coevo.storage.store import Store
from flows.clones import ReleaseClones
from flows.cohorts import find_cohort
from flows.dating import ReleaseDates
from flows.licence import check_accepted_licences
from flows.options import ReleaseOptions
from flows.task_building import TaskBuilding
from flows.untested import add_untested_functions
from packagers import code_free
from packagers.code_free import EditionReport
from packagers.editions import WithheldReport, write_edition_without_gold
from packagers.months import CloneFacts, MonthCut, check_month
from packagers.plan import ReleasePlan
from packagers.release import ReleaseReport, release_snapshot

# A process takes a second to start, as long as the tasks of a few repositories.
_REPOS_PER_PROCESS = 4


def publish_release(options: ReleaseOptions, listener: Listener = SILENT) -> ReleaseReport:
    """Release a month of a store, or everything, as a snapshot; return what was written.

    Clones supply what rows do not contain. They are protected from eviction meanwhile; missing or
    evicted ones are fetched.

    Raises: IncompleteMonth (a Fatal) if a repository of the month's cohort is missing and that was
    not asked for. A month that was released before is not asked again.
    """
    if options.month:
        check_month(options.month)
    store = Store(options.store)
    if store.is_private():
        _check_private_options(options)
    fixed = months.load_month(store.storage, options.month) if options.month else None
    with ReleaseClones(options.clones_folder, store) as clones:
        cohort = None
        if options.month is not None and fixed is None:
            cohort = find_cohort(store, options.month, clones.load_commit_date, options.reached)
            _check_cohort(options, cohort)
        dates = ReleaseDates(store, clones, fixed, listener, options.jobs)
        return release_snapshot(store, _build_plan(options, clones, fixed, dates, cohort, listener))


def _check_cohort(options: ReleaseOptions, cohort: MonthCohort | None) -> None:
    if cohort is not None and not cohort.is_complete and not options.incomplete:
        advice = 'mine them, withdraw them' if cohort.members else 'validate and mine candidates'
        raise IncompleteMonth(
            f'{cohort.month} is not complete in {options.store}, {cohort.missing_sentence}; {advice}, or '
            'release the month without them by --incomplete',
            lack=cohort.missing_sentence,
        )
    if cohort is not None and cohort.unvalidated and options.validated:
        raise IncompleteMonth(
            f'{cohort.month}: {cohort.unvalidated_sentence}; validate them',
            lack=cohort.unvalidated_sentence,
        )


def publish_or_explain_wait(
    options: ReleaseOptions, *, until: datetime, now: datetime, listener: Listener = SILENT
) -> ReleaseReport | str:
    """Release a month like `publish_release`, but wait for the month's cohort first.

    Until `until` the month is not released while it is incomplete, even if that was asked for, or
    while candidates of it were not validated: return a sentence that says what it waits for.

    Raises: IncompleteMonth from then on, unless it was asked for.
    """
    is_over = now >= until
    try:
        return publish_release(
            replace(options, incomplete=options.incomplete and is_over, validated=not is_over),
            listener,
        )
    except IncompleteMonth as error:
        if is_over:
            raise
        return f'{options.month} waits until {until:%Y-%m-%d %H:%M}: {error.lack}'


def _check_private_options(options: ReleaseOptions) -> None:
    """Raise Fatal for options that a private release cannot fulfil."""
    if not isinstance(options.snapshot, Path):
        raise Fatal(
            f'{options.store} is private, so that its release stays on this machine: name a folder'
        )
    if options.code_free is not None:
        raise Fatal(
            f'{options.store} is private, and a code-free edition is for others: leave out --code-free'
        )
    if options.withhold_gold is not None:
        raise Fatal(
            f'{options.store} is private, and an edition without answers is for others: leave out '
            '--withhold-gold'
        )
    if options.accepted:
        raise Fatal(
            f'{options.store} is private, so that its release holds all rows: leave out --accept-licence'
        )


def write_code_free_edition(options: ReleaseOptions) -> EditionReport:
    """Write the code-free edition of a released snapshot to `options.code_free`.

    Texts are found in the clones of the store. Raises: Fatal if the options do not say where.
    """
    if options.code_free is None:
        raise Fatal('say where the code-free edition is written')
    with ReleaseClones(options.clones_folder, Store(options.store)) as clones:
        return code_free.write_edition(
            options.snapshot,
            options.code_free,
            clones.get_repository,
            clones.list_attributed_files,
        )


def write_withheld_edition(options: ReleaseOptions) -> WithheldReport:
    """Write the edition without the developers' answers to `options.withhold_gold`.

    Start states are made from the clones of the store. Raises: Fatal if the options do not say
    where.
    """
    if options.withhold_gold is None:
        raise Fatal('say where the edition without answers is written')
    with ReleaseClones(options.clones_folder, Store(options.store)) as clones:
        return write_edition_without_gold(
            options.snapshot, options.withhold_gold, clones.get_repository
        )


def write_editions(options: ReleaseOptions) -> tuple[str, ...]:
    """Write the editions that the options name, and return one sentence about each."""
    sentences = []
    if options.code_free is not None:
        sentences.append(write_code_free_edition(options).sentence)
    if options.withhold_gold is not None:
        sentences.append(write_withheld_edition(options).sentence)
    return tuple(sentences)


def _build_plan(
    options: ReleaseOptions,
    clones: ReleaseClones,
    fixed: MonthRecord | None,
    dates: ReleaseDates,
    cohort: MonthCohort | None,
    listener: Listener,
) -> ReleasePlan:
    repos = sorted({partition.repo for partition in clones.store.list_partitions()})
    known = CloneFacts(
        committed=clones.load_commit_date,
        licence=clones.find_licence,
        stated=options.reached,
    )
    return ReleasePlan(
        snapshot=options.snapshot,
        date=dates.date_methods,
        add_rows=partial(add_untested_functions, open_clone=clones.get_repository)
        if options.untested
        else lambda rows: rows,
        date_single_revision=dates.date_single_revision_rows,
        known_dates=dates.list_known_dates,
        build=TaskBuilding(
            clones=clones,
            wanted=options.families,
            processes=min(options.jobs, len(repos) // _REPOS_PER_PROCESS),
        ).build_families,
        listener=listener,
        licence=clones.find_licence,
        is_silent=clones.is_silent_on_licences,
        is_private=clones.store.is_private(),
        clone=clones.get_repository,
        find_licence_files=clones.list_attributed_files,
        size=cache(clones.count_files_and_lines),
        families=clones.find_repository_families,
        accepted=check_accepted_licences(options.accepted),
        month=options.month,
        cut=MonthCut(options.month, known, fixed, cohort) if options.month else None,
        previous=options.previous,
        parameters=_list_manifest_parameters(options),
        urls=assign_urls(options.urls, repos),
    )


def _list_manifest_parameters(options: ReleaseOptions) -> Mapping[str, str]:
    """Return the options that change the data of a release, for its manifest."""
    families = {'families': ','.join(options.families)} if options.families else {}
    return families | ({'untested': 'functions'} if options.untested else {})


# The rest parses addresses that users give for repositories that were mined from a folder.

_URL = re.compile(rf'(?:{"|".join(PROTOCOLS)})://[^\s/]+/\S+')
_NAMED = re.compile(r'([^=:]+)=(.*)')

# Stands for the only repository of a store, if an address names none.
ONLY = ''


def parse_urls(words: Sequence[str]) -> Mapping[str, str]:
    """Parse words such as `REPO=URL` or `URL` into addresses by repository.

    An address without a repository has the key `ONLY`. Raises: Fatal for anything else, for
    credentials, and for a repository that is named twice.
    """
    urls: dict[str, str] = {}
    for word in words:
        named = _NAMED.fullmatch(word)
        repo, url = named.groups() if named else (ONLY, word)
        if not _URL.fullmatch(url):
            raise Fatal(
                f'--url takes an address such as https://example.org/owner/name, not {hide_credentials(url)!r}'
            )
        if strip_credentials_and_query(url) != url:
            raise Fatal(
                '--url holds a user, password or query, and a snapshot is public: leave it out'
            )
        if repo in urls:
            raise Fatal(f'--url names {repo or "the repository"} twice; leave one')
        urls[repo] = url
    return urls


def assign_urls(urls: Mapping[str, str], repos: Sequence[str]) -> Mapping[str, str]:
    """Return the addresses by repository; one under `ONLY` goes to the store's only repository.

    Raises: Fatal for a repository that the store does not hold, and for `ONLY` if it holds several.
    """
    if ONLY in urls and len(repos) != 1:
        raise Fatal(
            f'the store holds {len(repos)} repositories: write --url REPO=URL, with one of '
            f'{", ".join(repos)}'
        )
    known = {repo or repos[0]: url for repo, url in urls.items()}
    for repo in sorted(known.keys() - set(repos)):
        raise Fatal(f'the store has no {repo!r} to give a URL; it holds {", ".join(repos)}')
    return known

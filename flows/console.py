"""Print the results of a mining run for a person."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from coevo.model.reasons import explain_reason
from coevo.model.segment import Segment, count_tasks, has_tasks
from coevo.model.words import MethodChange
from flows.funnel import (
    advise_installation,
    count_labels,
    count_missing_runtimes,
    count_project_command_results,
    describe_examples,
)
from packagers.funnel import KEPT_OUT, FunnelStep, RepositoryNews

if TYPE_CHECKING:
    from flows.missing_pairs import MineReport
    from flows.plans import MiningPlan, PairPlan


def print_report(
    console: Console, report: MineReport, steps: Sequence[FunnelStep], segments: Sequence[Segment]
) -> None:
    """Print what a run did, and what it dropped with reasons."""
    console.print(
        f'{report.repo} ({_format_languages_if_several(report)}{report.walk}): {report.visited} commits visited, '
        f'{report.pairs} pairs, {report.executed} mined now, {report.reused} known before'
    )
    if not report.visited:
        console.print(
            'No commit lies within the dates that were asked for; the funnel is of earlier runs.'
        )
    if report.reused and not report.executed:
        console.print('What is known is not run again; --again does so.')
    console.print(build_funnel_table(steps))
    for line in describe_drop_reasons(steps):
        console.print(line, markup=False, highlight=False)
    for line in (*describe_examples(segments), *describe_labels(segments)):
        console.print(line, markup=False, highlight=False)
    if umpire := count_project_command_results(segments).sentence:
        console.print(umpire, markup=False, highlight=False)
    for sentence in (*report.warnings, *_describe_missing_runtimes(segments)):
        console.print(sentence)
    for language, sentence in report.unmined.items():
        console.print(f'{language} was not mined: {sentence}', markup=False, highlight=False)
    for pair_id, sentence in sorted(report.failures.items()):
        console.print(f'pair {pair_id} could not be mined now, run again: {sentence}')
    if report.deferred:
        console.print(_describe_deferred_pairs(report.deferred), markup=False, highlight=False)
    for sentence in _describe_unmeasured_pairs(report):
        console.print(sentence, markup=False, highlight=False)
    if report.bugs:
        console.print(describe_bugs(report.bugs), markup=False, highlight=False)


def describe_labels(segments: Sequence[Segment]) -> Iterator[str]:
    """Yield a sentence with the test methods of each label, and one with the tasks of them."""
    counted = count_labels(segments)
    if counted:
        yield 'labels of test methods: ' + ', '.join(f'{name} {count}' for name, count in counted)
    tasks = sum(map(count_tasks, segments))
    if tasks:
        methods = sum(row.track is not None for segment in segments for row in segment.methods)
        yield (
            f'tasks: {tasks}, of {methods} of these test methods; those of one pair, test file and '
            'track are one task'
        )


def describe_next_step(report: MineReport, store: str, segments: Sequence[Segment]) -> str:
    """Return a sentence on what to do after a run.

    store  as the user named it, without credentials
    """
    if report.failures or report.unmined:
        return 'next: run the same command again, for what could not be mined now'
    if not any(map(has_tasks, segments)) and not any(
        segment.single_revision for segment in segments
    ):
        return (
            'next: see what to do about each reason in docs/mining.md, Nothing came out?, or visit '
            'more commits with --commits'
        )
    kept_out = any(warning.startswith(KEPT_OUT) for warning in report.warnings)
    options = '' if store == 'store' else f' --store {shlex.quote(store)}'
    return (
        f'next: `coevo release{options} --snapshot snapshots/mine` writes a snapshot, and `coevo show '
        f'snapshots/mine {report.repo}` lists its tasks and all that left'
        + (', without what licences keep out' if kept_out else '')
    )


def _describe_deferred_pairs(deferred: Mapping[str, int]) -> str:
    """Return a sentence with the pairs that have more tests to run than `most_tests` allows."""
    pairs = f'{len(deferred)} pairs wait' if len(deferred) > 1 else '1 pair waits'
    tests = ' to '.join(map(str, sorted({min(deferred.values()), max(deferred.values())})))
    return (
        f'{pairs}, with {tests} tests to run, since '
        '`most_tests` is less; run the same command without it to mine them'
    )


def _describe_unmeasured_pairs(report: MineReport) -> Iterator[str]:
    left = {**report.measures.waiting, **report.measures.bugs}
    for pair_id, sentence in sorted(left.items()):
        yield (
            f'the tasks of pair {pair_id} are not measured, `coevo pipeline measure` tries again: '
            f'{sentence}'
        )


def _format_languages_if_several(report: MineReport) -> str:
    """Return the names of the languages if there are several, else nothing."""
    names = [partition.language for partition in report.partitions]
    return f'{" and ".join(names)}, ' if len(names) > 1 else ''


def _describe_missing_runtimes(segments: Sequence[Segment]) -> Iterator[str]:
    for runtime, count in count_missing_runtimes(segments):
        yield (
            f'{count} {"pairs were" if count > 1 else "pair was"} dropped for want of {runtime.title}; '
            f'{advise_installation([runtime])}, and the next run mines what it builds'
        )


def describe_bugs(bugs: Mapping[str, str]) -> str:
    """Return a sentence about pairs that ended in a bug, with the place of each record."""
    ends = f'{len(bugs)} pairs end' if len(bugs) != 1 else '1 pair ends'
    return (
        f'{ends} in a bug of coevo and {"count" if len(bugs) != 1 else "counts"} as unmined, until '
        'another build of it, or the setting retry_bugs, tries again; please report what is kept in '
        + ', '.join(sorted(bugs.values()))
    )


def build_news_table(news: Sequence[RepositoryNews]) -> Table:
    """Return a table of new, changed and withdrawn tasks by repository."""
    table = Table(title='Tasks', title_justify='left')
    table.add_column('repository')
    for heading in ('new', 'changed', 'withdrawn'):
        table.add_column(heading, justify='right')
    for repository_news in news:
        table.add_row(
            repository_news.repo,
            str(repository_news.new),
            str(repository_news.changed),
            str(repository_news.withdrawn),
        )
    return table


def build_funnel_table(steps: Sequence[FunnelStep]) -> Table:
    """Return a table of what entered each stage and how much was kept and dropped.

    It has no reasons; see `describe_drop_reasons`.
    """
    table = Table(title='Funnel', title_justify='left')
    for heading in ('stage', 'unit'):
        table.add_column(heading)
    for heading in ('entered', 'kept', 'dropped'):
        table.add_column(heading, justify='right')
    for step in steps:
        dropped = step.entered - step.kept_count
        table.add_row(
            step.stage, step.stage.unit, str(step.entered), str(step.kept_count), str(dropped)
        )
    return table


def describe_drop_reasons(steps: Sequence[FunnelStep]) -> Iterator[str]:
    """Yield a heading for each stage with drops, then one line for each reason.

    A line has the number of drops and the sentence of the reason.
    """
    for step in steps:
        if step.dropped:
            yield f'Left at {step.stage}, {step.stage.clause}:'
        for reason, count in step.dropped:
            yield f'{count:>7}  {explain_reason(reason)}'


def print_plan(console: Console, plan: MiningPlan) -> None:
    """Print which pairs a run would execute, newest first, and why it leaves out the others."""
    due = [pair for pair in plan.pairs_to_run if not pair.is_known]
    console.print(
        f'{plan.repo} ({plan.language}): {plan.visited} commits visited, {len(plan.pairs)} pairs; '
        f'{len(plan.pairs_to_run)} have tests to run, of which the store knows '
        f'{len(plan.pairs_to_run) - len(due)}'
    )
    deferred = {pair.pair.pair_id: sum(pair.tests.values()) for pair in due if pair.is_deferred}
    if deferred:
        console.print(_describe_deferred_pairs(deferred), markup=False, highlight=False)
    for pair in due:
        console.print(_describe_pair_plan(pair), markup=False, highlight=False)
    reasons = Counter(plan.walk_reasons)
    for pair in plan.pairs:
        reasons.update(pair.reasons)
    if reasons:
        console.print('Not run, commits, pairs and tests by reason:')
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        console.print(f'{count:>7}  {explain_reason(reason)}', markup=False, highlight=False)


def _describe_pair_plan(plan: PairPlan) -> str:
    date = plan.pair.new.committer_date
    tests = ', '.join(
        f'{plan.tests[change]} {change}' for change in MethodChange if plan.tests.get(change)
    )
    day = f'{date:%Y-%m-%d}' if date else 'undated   '
    return f'{plan.pair.new.rev[:12]}  {day}  {tests}{", waits" if plan.is_deferred else ""}'


def build_ranking_table(plans: Sequence[MiningPlan]) -> Table:
    """Return a table of repositories with their pairs to run, in the given order."""
    table = Table(title='Pairs to run', title_justify='left')
    for heading in ('repository', 'language'):
        table.add_column(heading)
    for heading in ('commits', 'pairs', 'to run', 'for 100 commits', 'tests'):
        table.add_column(heading, justify='right')
    for plan in plans:
        table.add_row(
            plan.repo,
            plan.language,
            str(plan.visited),
            str(len(plan.pairs)),
            str(len(plan.pairs_to_run)),
            f'{100 * plan.pairs_to_run_per_commit:.0f}',
            str(sum(sum(pair.tests.values()) for pair in plan.pairs_to_run)),
        )
    return table

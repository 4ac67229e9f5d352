"""The dataset card: what users need to know about the data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from coevo.languages.table import LANGUAGES, list_lacking_capabilities
from coevo.model.dictionary import list_third_party_columns
from coevo.model.families import Family
from coevo.model.labels import CELL_ORDER
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.schema import TABLES
from coevo.model.task_rows import TaskRow
from coevo.model.words import Cell, MethodChange, Stage, Track
from coevo.prompts import compute_canary
from coevo.snapshots.cutoffs import compute_first_clean_moment
from packagers.dictionary import render_table
from packagers.funnel import RepositoryNews, compute_funnel
from packagers.manifests import SnapshotDetails
from packagers.row_files import list_task_parts
from packagers.rows import Rows

INTRODUCTION = """\
Tests of public repositories that a code change forced to change, proven by running the tests of both revisions on the code of
both. A label is what these runs showed, never a guess from the diff. {counts}"""

LOAD = """\
```python
from datasets import load_dataset

tasks = load_dataset(SNAPSHOT, 'tasks', split='test')  # another table, 'test_update' (a track), 'family_class' (a family)
```

`pandas.read_parquet('SNAPSHOT/data/tasks')` and any other reader of Parquet work, too. With coevo installed:

```sh
coevo query SNAPSHOT --only-after 2025-06 --only-track update
coevo verify SNAPSHOT
```"""

CONTAMINATION = """\
- `contamination_date` is the earliest time at which the answer may have been public. Null means unknown and never counts as clean.
- `standard_tasks` of coevo leaves out tasks whose start state shows much of the answer (`leak` of 0.6 or more), and pairs that no commit
  made (`old_is_ancestor` is false).
- Tasks of one pair resemble each other: count pairs, and never split a pair. All rows are in the split `test`."""

# These two explain why `datasets` does not load some configurations: it has no split of zero rows.
NO_TABLE = 'A table without rows is no configuration: {}.'
NO_TASKS = (
    'A track without tasks is one ({}), but `datasets` refuses to load zero rows ("corresponds to no data"). '
    'With `streaming=True` it gives none, and all columns.'
)

LICENCES = """\
Code stays under the licence of its repository, which `tasks.license` and `pairs.license` name for each row; copies must keep what that
licence asks for, and `ATTRIBUTION` has it. Texts under copyleft are withheld (`texts_withheld`). Where a licence is unknown or not approved by
the OSI there are only drops and counts. What coevo adds (labels, cells, dates, measurements) is under CC BY 4.0."""

PRIVATE = """\
**This release is private.** It was mined with `--private`: it holds all rows, whatever the licence, and the code of
its repositories with them. It is for their owner alone; `coevo pipeline publish`, `coevo submit` and the catalogue refuse it."""

LICENCES_IN_PRIVATE = """\
The code is its owner's, under whatever licence `tasks.license` and `pairs.license` name, if they name one; none was asked for. What coevo adds
(labels, cells, dates, measurements) is under CC BY 4.0."""

LICENCES_WITHOUT_CODE = """\
This edition contains no code of the repositories. `tasks.license` and `pairs.license` name the licence of the code that `coevo get`
fills in. What coevo made (labels, cells, dates, measurements) is under CC BY 4.0."""

WITHOUT_CODE = """\
**This is the code-free edition of the release.** It has all tables and all rows; the columns with text of the
repositories are null: {}. `coevo get EDITION --out SNAPSHOT` fills them from public clones; every file then has the SHA-256 of the release."""

MORE = """\
Each column has its sentence in the metadata of its Parquet field and in `croissant.json`. The manual of coevo (`docs/` in its repository)
explains all tables, values and reasons (`schema.md`), labels (`evidence.md`), dates (`contamination.md`), scores (`scores.md`), and what a release is good
for (`about.md`, with a datasheet). `drops` has everything that left the funnel, with its reason."""

# Neither CC BY nor any other single licence covers all of the data.
_LICENCE = (
    'license: other',
    'license_name: code-of-each-repository-and-cc-by-4.0-for-the-rest',
    'license_link: README.md#licences',
)


def render_card(rows: Rows, about: SnapshotDetails) -> str:
    """Return the card as Markdown; its head tells dataset viewers the files of each table."""
    blocks = (
        _render_configs(rows),
        f'# coevo {about.month}{", private" if about.is_private else ""}',
        PRIVATE if about.is_private else '',
        INTRODUCTION.format(counts=_describe_task_counts(rows)),
        '## Load it',
        LOAD,
        ' '.join(_explain_empty_tables(rows)),
        *_render_example(rows),
        '## Before you use it',
        f'{CONTAMINATION} Prompts of this month end with `{compute_canary(about.month)}`.'
        + _describe_unchanged_test_sample(rows)
        + _describe_missing_capabilities(rows),
        _describe_cohort_gaps(about),
        _describe_unmined_pairs(about),
        _describe_walks_behind(about),
        *(f'**Mixed:** {sentence}.' for sentence in describe_mixed_code(rows.pairs)),
        *_render_reverified_section(rows),
        '## What it holds',
        _describe_tables(rows),
        _describe_funnel(rows),
        _describe_news(about.news),
        '## Licences',
        LICENCES_IN_PRIVATE if about.is_private else LICENCES,
        _describe_licences(rows),
        '## More',
        MORE,
    )
    return '\n\n'.join(filter(None, blocks)) + '\n'


def describe_mixed_code(pairs: Iterable[PairRow]) -> Iterator[str]:
    """Yield a sentence for each language whose pairs were mined by several versions of the code.

    Nothing if each language has one version.
    """
    counts: dict[str, Counter[str]] = {}
    for pair in pairs:
        counts.setdefault(pair.language, Counter())[pair.engine_version or 'unknown'] += 1
    for language, versions in sorted(counts.items()):
        if len(versions) > 1:
            parts = ', '.join(f'{count} by {code}' for code, count in sorted(versions.items()))
            yield (
                f'pairs of {language} were mined by {len(versions)} versions of the code ({parts}): '
                'mine again what `coevo pipeline status` calls stale to have one version'
            )


def render_code_free_card(card: str, month: str) -> str:
    """Return the card of an edition without code, made from the card of its release."""
    title = f'# coevo {month}\n'
    columns = ', '.join(f'`{name}`' for name in list_third_party_columns(TABLES))
    code_free_title = f'# coevo {month}, code-free edition\n\n{WITHOUT_CODE.format(columns)}\n'
    return card.replace(title, code_free_title, 1).replace(LICENCES, LICENCES_WITHOUT_CODE, 1)


def _render_configs(rows: Rows) -> str:
    """Return the head that dataset viewers read: a configuration for each part of the data.

    Parts are the tables, the tracks of co-evolution, and the other families of tasks.

    Tables without rows are left out, since Hugging Face's library has no data for them. Tracks
    always stay: users who load the same three tracks every month should see that one is empty
    rather than unknown.
    """
    lines = ['---', *_LICENCE, 'tags:', '- code', '- software-testing', 'configs:']
    paths = {name: f'data/{name}/*.parquet' for name in TABLES if getattr(rows, name)}
    tracks = [str(track) for track in sorted(Track)]
    for part in list_task_parts(rows.tasks):
        paths[f'test_{part}' if part in tracks else f'family_{part}'] = f'data/tasks/{part}.parquet'
    for name, path in paths.items():
        lines += [f'- config_name: {name}', '  data_files:', '  - split: test']
        lines += [f'    path: {path}']
        if name == 'tasks':
            lines += ['  default: true']
    return '\n'.join((*lines, '---'))


def _explain_empty_tables(rows: Rows) -> Iterator[str]:
    tables = [f'`{name}`' for name in TABLES if not getattr(rows, name)]
    if tables:
        yield NO_TABLE.format(', '.join(tables))
    present = {task.track for task in rows.tasks if task.family in (None, Family.COEVOLUTION)}
    tracks = [f'`test_{track}`' for track in sorted(Track) if track not in present]
    if tracks:
        yield NO_TASKS.format(', '.join(tracks))


def _describe_licences(rows: Rows) -> str:
    """Return a sentence with the number of tasks under each licence."""
    counts = Counter(task.license or 'unknown' for task in rows.tasks)
    parts = ', '.join(f'{name} {count}' for name, count in sorted(counts.items()))
    return f'Licences of the tasks: {parts}.' if parts else ''


def _describe_task_counts(rows: Rows) -> str:
    """Return sentences with the number of tasks by track, of tasks on whole files, and of code."""
    tracks: Counter[Track] = Counter()
    suites, codes, repositories = 0, 0, set()
    for task in rows.tasks:
        if task.family in (None, Family.COEVOLUTION):
            tracks[task.track] += 1
            repositories.add(task.repo)
        elif task.asks_for_code:
            codes += 1
        else:
            suites += 1
    parts = ', '.join(f'{tracks[track]} {track}' for track in Track)
    rest = f'{suites} of whole test files' + (f' and {codes} of code' if codes else '')
    return (
        f'Tasks: {tracks.total()} of single tests ({parts}) in {len(repositories)} '
        f'{"repository" if len(repositories) == 1 else "repositories"}, '
        f'and {rest}.'
    )


def _describe_tables(rows: Rows) -> str:
    """Return a sentence with the number of rows of each table.

    `timings` has no number there, since its rows differ from run to run.
    """
    counts = (f'`{name}` {len(getattr(rows, name))}' for name in TABLES if name != 'timings')
    return f'Rows: {", ".join(counts)}; `timings` has what mining cost.'


def _describe_funnel(rows: Rows) -> str:
    """Return a sentence with the funnel; every stage has its own unit."""
    steps = (
        f'{step.stage} {step.entered} → {step.kept_count} {step.stage.unit}s'
        for step in compute_funnel(rows)
    )
    return f'Funnel, entered → kept: {"; ".join(steps)}.'


def _render_example(rows: Rows) -> Iterator[str]:
    """Yield a section with one task and its cells, if there is a task of co-evolution.

    It is the one with the fewest tests and dependencies, an update if possible.
    """
    order = {track: position for position, track in enumerate((Track.UPDATE, Track.GENERATION))}
    candidates = (
        task
        for task in rows.tasks
        if task.family in (None, Family.COEVOLUTION)
        and task.old_is_ancestor is not False
        and task.method_ids
        and task.test_methods  # a damaged release is reported by verification, not by its card
    )
    task = min(
        candidates,
        key=lambda task: (
            order.get(task.track, len(order)),
            len(task.test_methods),
            len(task.dependencies),
            task.task_id,
        ),
        default=None,
    )
    if task is None:
        return
    method = next(
        (
            row
            for row in rows.methods
            if (row.method_id, row.walk) == (task.method_ids[0], task.walk)
        ),
        None,
    )
    if method is None:  # verification says that the tables do not fit
        return
    yield '## One task'
    yield (
        f'`{task.task_id}`, {task.track}: commit `{task.new_rev}` of {task.url or task.repo} changes '
        f'{_name_dependencies(task)}. Test: `{task.test_methods[0]}` in `{task.test_file}`. '
        f'Public since: {_render_day(task.contamination_date)}.'
    )
    cells = ((cell, getattr(method, cell)) for cell in CELL_ORDER)
    yield render_table(
        ('cell', 'outcome', 'runs that passed'),
        (
            (
                f'`{cell}`',
                outcome,
                f'{_get_count(method, cell, "passes")} of {_get_count(method, cell, "runs")}',
            )
            for cell, outcome in cells
            if outcome is not None
        ),
    )


def _name_dependencies(task: TaskRow) -> str:
    names = [f'`{dependency.name or dependency.declaration}`' for dependency in task.dependencies]
    more = f' and {len(names) - 1} more' if len(names) > 1 else ''
    return f'{names[0]}{more}' if names else 'no code that the test needs'


def _render_day(date: datetime | None) -> str:
    return f'{date:%Y-%m-%d}' if date else 'unknown'


def _get_count(row: MethodRow, cell: Cell, name: str) -> int | None:
    count: int | None = getattr(row, f'{cell}_{name}')
    return count


def _describe_cohort_gaps(about: SnapshotDetails) -> str:
    """Return a sentence with what the month's cohort lacks; '' without a cohort or if it is whole."""
    cohort = about.cohort
    if cohort is None or cohort.is_complete:
        return ''
    return (
        f'**Incomplete:** {cohort.missing_sentence}. `manifest.json` has all of them under `cohort`; what is '
        'mined later comes with a later month.'
    )


def _describe_unmined_pairs(about: SnapshotDetails) -> str:
    """Return a sentence with the pairs that are not mined yet; '' if there is none."""
    counts = (
        f'{count} pairs of {partition.repo} ({partition.walk})'
        for partition, count in sorted(about.unmined.items())
    )
    unmined = ', '.join(counts)
    return unmined and f'{unmined} entered the walk but are not mined yet.'


def _describe_walks_behind(about: SnapshotDetails) -> str:
    """Return a sentence with the walks that do not reach the month's end; '' if all do."""
    last = compute_first_clean_moment(about.month)
    behind = ', '.join(
        f'{partition.repo} ({partition.walk}) {_render_day(reached)}'
        for partition, reached in sorted(about.reached.items())
        if reached is None or reached < last - timedelta(microseconds=1)
    )
    return behind and (
        f'Not known until the end of the month, but until the day named here: {behind}. Later commits of these '
        'come with a later month.'
    )


def _render_reverified_section(rows: Rows) -> Iterator[str]:
    """Yield a section with the number of repeated labels that were not reproduced."""
    again = [method for record in rows.reverified for method in record.methods]
    rerun_ids = {method.method_id for method in again}
    lost = {method.method_id for method in again if method.lost is not None}
    if rerun_ids:
        bound = compute_upper_bound(len(lost), len(rerun_ids))
        yield '## Run again'
        yield (
            f'{len(rerun_ids)} labels were run again, in fresh processes (`coevo pipeline reverify`): '
            f'{len(rerun_ids) - len(lost)} hold, {len(lost)} do not, and are left out as `not_reproduced`. If they were drawn by '
            f'seed, at most {bound:.1%} of all labels would not hold, with 95 % confidence.'
        )


def _describe_news(news: Sequence[RepositoryNews]) -> str:
    """Return a sentence with the changes since the snapshot before."""
    new, changed, withdrawn = (
        sum(getattr(entry, name) for entry in news) for name in ('new', 'changed', 'withdrawn')
    )
    return (
        f'Since the snapshot before: {new} tasks are new (`tasks.released`), {changed} have another date or '
        f'fewer tests, {withdrawn} are gone (`withdrawn` says why). `manifest.json` has this for each repository.'
    )


_NOT_SAMPLED = 'not_sampled'  # of filters/sample.py, which packagers must not import


def _describe_unchanged_test_sample(rows: Rows) -> str:
    """Return a further list item with the size of the sample, if there are unchanged tests."""
    left = [
        drop
        for drop in rows.drops
        if drop.reason == _NOT_SAMPLED and drop.change is not MethodChange.CONTEXT_CHANGED
    ]
    later = (Stage.LABEL, Stage.PUBLISH)
    drawn = sum(row.change is MethodChange.UNCHANGED for row in rows.methods)
    drawn += sum(
        drop.change is MethodChange.UNCHANGED and drop.stage in later for drop in rows.drops
    )
    if not drawn:
        return ''
    undrawn = sum(row.tests_undrawn or 0 for row in rows.pairs)
    if undrawn:
        return (
            f'\n- Unchanged tests are a small sample, drawn by seed in pairs that change tests: {drawn} were run, '
            f'{len(left)} others use changed code, and of {undrawn} it is not known (`pairs.tests_undrawn`). So they '
            'do not show how often a test stays as it is.'
        )
    return (
        f'\n- Unchanged tests are a sample, drawn by seed in each pair: {drawn} of {drawn + len(left)} were '
        'run, so they do not show how often a test stays as it is. `coevo report identification` gives each '
        'its `weight`.'
    )


def _describe_missing_capabilities(rows: Rows) -> str:
    """Return further list items for languages that lack some capability."""
    named = sorted({row.language for row in rows.repositories} & LANGUAGES.keys())
    lacking = {language: list_lacking_capabilities(language) for language in named}
    return ''.join(
        f'\n- Not offered for {language}: {", ".join(lacks)}. Such columns are `not_offered` or empty, which '
        'means neither none nor unknown.'
        for language, lacks in lacking.items()
        if lacks
    )


def compute_upper_bound(found: int, drawn: int, confidence: float = 0.95) -> float:
    """Return the exact upper bound of a share (Clopper and Pearson).

    It is the largest share for which at most `found` of `drawn` turn up with probability 1 -
    confidence.
    """
    if found >= drawn:
        return 1.0
    low, high = found / drawn, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if _compute_probability_of_at_most(found, drawn, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _compute_probability_of_at_most(found: int, drawn: int, share: float) -> float:
    """Return the probability of at most `found` hits in `drawn` draws, each with chance `share`.

    It sums in logarithms, since the numbers of combinations exceed a float for thousands.
    """
    return math.fsum(
        math.exp(
            _log_combinations(drawn, k) + k * math.log(share) + (drawn - k) * math.log1p(-share)
        )
        for k in range(found + 1)
    )


def _log_combinations(drawn: int, k: int) -> float:
    return math.lgamma(drawn + 1) - math.lgamma(k + 1) - math.lgamma(drawn - k + 1)

"""The dataset card: what users need to know about the data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from coevo.languages.table import LANGUAGES, list_not_offered
from coevo.model.families import Family
from coevo.model.labels import CELL_ORDER, TABLE, TRACKS
from coevo.model.pair_rows import PairRow
from coevo.model.reasons import BY_STAGE
from coevo.model.schema import CONTENTS, TABLES
from coevo.model.texts import list_third_party_columns
from coevo.model.words import MethodChange, Stage, Track
from coevo.snapshots.cutoffs import compute_first_clean_moment
from packagers import datasheet
from packagers.dictionary import render_column_tables, render_table
from packagers.funnel import compute_funnel
from packagers.manifests import SnapshotDetails, count_siblings
from packagers.news import RepositoryNews
from packagers.parquet import list_task_parts
from packagers.rows import Rows

INTRODUCTION = """\
Test methods of public repositories, the code changes that they had to follow, and what happened
when the tests of both revisions were run on the code of both. Everything here was executed: a
label is what the cells said, not a guess from the diff.

A *cell* is the whole test tree of one revision on the code of another: `t_old_c_old`, `t_new_c_new`,
`t_old_c_new` (old tests, new code) and `t_new_c_old` (new tests, old code). A cell that decides a label
was run in at least three fresh processes, in given and reversed order and alone, and all runs
agreed; what a compiler said was asked once."""

USE = """\
```sh
coevo query SNAPSHOT "SELECT * FROM tasks"
coevo query SNAPSHOT --only-after 2024-06-30 --only-track update
coevo verify SNAPSHOT
coevo show SNAPSHOT TASK_ID
```

Or read `data/TABLE/*.parquet` with anything that reads Parquet. With `coevo.open(SNAPSHOT)` every
table is a view; `standard` is what most people want: methods of the walk `parents` with complete
evidence. The tables themselves hold all walks and are not filtered by it.

**Contamination.** `contamination_date` is the earliest time at which the answer may have been
public: over all refs of the clone, the earliest author, committer or descendant's committer date
of a commit that brings the same test body in: none of its parents has it. `code_first_seen` is the same for the changed source.
Null means that there is no telling, and null is never clean. `--only-after 2024-06` keeps what is
strictly later than the last day of that month, in every table.

**Hugging Face.** `datasets.load_dataset(SNAPSHOT, 'test_update', split='test')` loads a track of co-evolution,
`'family_class'` the tasks of a family, the name of a table that table (`tasks` has the tasks of all)."""

# Explains what may surprise readers of the head: `datasets` has no split of zero rows.
NO_TABLE = 'A table without rows is no configuration: {}.'
NO_TASKS = (
    'A track without tasks is one ({}), but `datasets` refuses to load zero rows ("corresponds to no data"). '
    'With `streaming=True` it gives none, and all columns.'
)

LABELS = """\
What each cell has to say; an empty one is not asked. `broken` is `fail`, `error`, `timeout` or
`compile_error`."""

FUNNEL = """\
At every stage entered = kept + dropped, in its unit. A method is a test method of a pair; tasks are
counted before equal ones are joined."""

NEWS = """\
Tasks that were in no snapshot before (`tasks.released` is this month), that have another date or fewer
tests than before, and that are gone; `withdrawn` says why."""

SIBLINGS = """\
At the start of a task the targets of *all* tasks of its pair are undone: its own are reverted or
removed, those of others are removed with what they alone use. `siblings` names them,
`sibling_patch` leads from `new_rev` to the start state in the other test files, `test_patch` from
the start state to `new_rev` in the task's own. So the start state is `new_rev`, then `git apply` of
`sibling_patch`, then `git apply --reverse` of `test_patch`; gold passes three times in it. `leak` is the
share of gold's text (token 5-grams of bodies) that stands in one method which the pair added and the
start state still shows; `standard`, `standard_tasks` and `coevo evaluate` leave out what has the threshold
or more. `nearest` is the same of what stood at `old_rev`, for context. Tasks of one pair resemble each
other: count pairs, not tasks, where that matters, and never split a pair."""

REASONS = """\
Why something left the funnel, as in `drops`. A reason that is named after a cell and an outcome says
that no label fits what that cell gave."""

LIMITS = """\
- `dependencies` come from the source (`dependency_source`), not from a run-time map, where the
  column says `static`.
- `track_by_module` follows Maven's verdict, where one test file that does not compile breaks its
  module. It serves comparison; tasks are made from `track` alone.
- The walks `states` and `window` also pair commits of branches that only interleave. Where the old
  revision is no ancestor of the new one (`old_is_ancestor` is false), nobody made the change: what
  seems deleted or generated stands on another branch. `standard` leaves such rows out.
- An edit that stands in several pairs (branches, merges, rebased copies, forks) is in `methods` each
  time, with `duplicate_of`; as a task it is there once, with `also_at`. Repositories that share a
  commit are of one `family`.
- Tasks of one month are for evaluation: all that there is stands in the split `test`."""

LICENCES = """\
Most bytes here are code of other people. It stays under the licence of the repository that it comes from, as
`pairs.license` and `tasks.license` say of each row, at the new revision; copies of it have to keep what that
licence asks for. `permissive` holds what no copyleft covers. Where a licence is unknown or not approved by the OSI
there is no code, only drops and counts.

What coevo adds (labels, cells, dates, measurements, their arrangement) is under CC BY 4.0."""

PRIVATE = """\
**This release is private.** It was mined with `--private`: it holds all rows, whatever the licence, and the code of
its repositories with them. It is for their owner alone; `coevo pipeline publish`, `coevo submit` and the catalogue refuse it."""

LICENCES_WITHOUT_CODE = """\
No code of other people is in this edition: the columns with text of the repositories are null. What identifies
things in it (names, paths, heads of declarations, types of exceptions) are facts. `pairs.license` and
`tasks.license` say under which licence the code stands that `coevo get` fills in.

What coevo made (labels, cells, dates, measurements, their arrangement) is under CC BY 4.0."""

WITHOUT_CODE = """\
**This is the code-free edition of the release.** It has all tables and all rows; the columns with text of the
repositories are null: {}. `data/texts` says how each of these texts
is put together from files in Git, by the ids of their blobs, so that public clones give them back:

```sh
coevo get EDITION --out SNAPSHOT
```

What comes of that has the SHA-256 of every file of the release, which `manifest.json` names under `edition`.
`coevo verify` checks the edition itself, and says which rules need the texts."""

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
        *((PRIVATE,) if about.is_private else ()),
        INTRODUCTION,
        '## Tables',
        render_table(('table', 'rows', 'content'), _list_tables(rows)),
        '## Columns',
        render_column_tables(),
        '## Use',
        ' '.join((USE, *_explain_empty_tables(rows))),
        '## Labels',
        LABELS,
        render_table(('label', 'task', 'change', *CELL_ORDER, 'methods here'), _list_labels(rows)),
        '## Funnel',
        FUNNEL,
        render_table(('stage', 'unit', 'entered', 'kept', 'dropped'), _list_stages(rows)),
        *_report_unmined(about),
        *_report_walks_behind(about),
        *(f'**Mixed:** {sentence}.' for sentence in describe_mixed_code(rows.pairs)),
        *_report_reverified(rows),
        *_report_news(about.news),
        '## Siblings',
        SIBLINGS,
        render_table(('', 'here'), _list_sibling_counts(rows)),
        '## Reasons',
        REASONS,
        render_table(('stage', 'reason', 'here', 'meaning'), _list_reasons(rows)),
        '## Limits',
        LIMITS + _describe_sample(rows) + _list_not_offered(rows),
        '## Licences',
        LICENCES,
        render_table(('licence', 'pairs', 'tasks'), _count_licences(rows)),
        '## Datasheet',
        datasheet.render_sections(3),
    )
    return '\n\n'.join(blocks) + '\n'


def describe_mixed_code(pairs: Iterable[PairRow]) -> Iterator[str]:
    """Yield a sentence for each language whose pairs were mined by several versions of the code."""
    counts: dict[str, Counter[str]] = {}
    for pair in pairs:
        counts.setdefault(pair.language, Counter())[pair.engine_version or 'unknown'] += 1
    for language, versions in sorted(counts.items()):
        if len(versions) > 1:
            parts = ', '.join(f'{count} by {code}' for code, count in sorted(versions.items()))
            yield (
                f'pairs of {language} were mined by {len(versions)} versions of the code ({parts}): '
                'mine again what `coevo pipeline status` calls stale to have one'
            )


def render_code_free_card(card: str, month: str) -> str:
    """Return the card of an edition without code, made from the card of its release."""
    title = f'# coevo {month}\n'
    columns = ', '.join(f'`{name}`' for name in list_third_party_columns(TABLES))
    code_free_title = f'# coevo {month}, code-free edition\n\n{WITHOUT_CODE.format(columns)}\n'
    return card.replace(title, code_free_title, 1).replace(LICENCES, LICENCES_WITHOUT_CODE, 1)


def _render_configs(rows: Rows) -> str:
    """Return the head that dataset viewers read: a configuration for each table, each track of
    co-evolution, and each other family of tasks.

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


def _count_licences(rows: Rows) -> Iterator[tuple[object, ...]]:
    pairs = Counter(pair.license or 'unknown' for pair in rows.pairs)
    tasks = Counter(task.license or 'unknown' for task in rows.tasks)
    for name, count in sorted(pairs.items()):
        yield name, count, tasks[name]


def _list_tables(rows: Rows) -> Iterator[tuple[str, str, str]]:
    for name, content in CONTENTS.items():
        # The number of timed steps may differ from run to run, as the seconds do.
        count = '' if name == 'timings' else str(len(getattr(rows, name)))
        yield f'`{name}`', count, content


def _list_labels(rows: Rows) -> Iterator[tuple[object, ...]]:
    counts = Counter(row.label for row in rows.methods)
    for row in TABLE:
        cells = (row.demands[cell].value if cell in row.demands else '' for cell in CELL_ORDER)
        is_task = 'yes' if row.label in TRACKS else ''
        yield f'`{row.label}`', is_task, row.change, *cells, counts[row.label]


def _list_stages(rows: Rows) -> Iterator[tuple[object, ...]]:
    for step in compute_funnel(rows):
        dropped = step.entered - step.kept_count
        yield step.stage, step.stage.unit, step.entered, step.kept_count, dropped


def _report_unmined(about: SnapshotDetails) -> Iterator[str]:
    for partition, count in sorted(about.unmined.items()):
        yield (
            f'{count} pairs of {partition.repo} ({partition.walk}) entered the walk but are not '
            'mined yet.'
        )


def _report_walks_behind(about: SnapshotDetails) -> Iterator[str]:
    last = compute_first_clean_moment(about.month)
    for partition, reached in sorted(about.reached.items()):
        if reached is None or reached < last - timedelta(microseconds=1):
            until = f'until {reached:%Y-%m-%d}' if reached else 'no one knows until when'
            yield (
                f'{partition.repo} ({partition.walk}) is known {until}: what it had later comes with '
                'a month after this one.'
            )


def _report_reverified(rows: Rows) -> Iterator[str]:
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


def _report_news(news: Sequence[RepositoryNews]) -> Iterator[str]:
    yield '## News'
    yield NEWS
    heads = ('repository', 'new', 'changed', 'withdrawn')
    yield render_table(
        heads, ((entry.repo, entry.new, entry.changed, entry.withdrawn) for entry in news)
    )


_NOT_SAMPLED = 'not_sampled'  # of filters/sample.py, which packagers must not import


def _describe_sample(rows: Rows) -> str:
    """Return a further list item with the size of the sample, if there are unchanged tests."""
    left = [drop for drop in rows.drops if drop.reason == _NOT_SAMPLED]
    later = (Stage.LABEL, Stage.PUBLISH)
    drawn = sum(row.change is MethodChange.UNCHANGED for row in rows.methods)
    drawn += sum(
        drop.change is MethodChange.UNCHANGED and drop.stage in later for drop in rows.drops
    )
    if not drawn:
        return ''
    return (
        f'\n- Unchanged tests are a sample, drawn by seed in each pair: {drawn} of {drawn + len(left)} were '
        'run, so they are no measure of how often a test stays as it is. `coevo report identification` gives each '
        'the `weight` by which it counts.'
    )


def _list_not_offered(rows: Rows) -> str:
    """Return further list items for languages that lack some capability."""
    named = sorted({row.language for row in rows.repositories} & LANGUAGES.keys())
    lacking = {language: list_not_offered(language) for language in named}
    return ''.join(
        f'\n- Not offered for {language}: {", ".join(lacks)}. What would come of that is `not_offered` or '
        'empty in its rows, which is neither none nor unknown.'
        for language, lacks in lacking.items()
        if lacks
    )


def _list_sibling_counts(rows: Rows) -> Iterator[tuple[str, int | float]]:
    for name, value in count_siblings(rows).items():
        yield name.replace('_', ' '), value


def _list_reasons(rows: Rows) -> Iterator[tuple[object, ...]]:
    counts = Counter((drop.stage, drop.reason) for drop in rows.drops)
    for stage, reasons in BY_STAGE.items():
        for reason, meaning in reasons.items():
            yield stage, f'`{reason}`', counts[stage, reason], meaning


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
        if _probability_of_at_most(found, drawn, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _probability_of_at_most(found: int, drawn: int, share: float) -> float:
    """Sum in logarithms, since the numbers of combinations exceed a float for thousands."""
    return math.fsum(
        math.exp(
            _log_combinations(drawn, k) + k * math.log(share) + (drawn - k) * math.log1p(-share)
        )
        for k in range(found + 1)
    )


def _log_combinations(drawn: int, k: int) -> float:
    return math.lgamma(drawn + 1) - math.lgamma(k + 1) - math.lgamma(drawn - k + 1)

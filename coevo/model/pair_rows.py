"""The row types of the tables `pairs`, `cells` and `timings`, and the environments of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coevo.model.column import (
    Column,
    LanguageName,
    MethodId,
    NewAuthorDate,
    NewCommitterDate,
    NewRev,
    OldAuthorDate,
    OldCommitterDate,
    OldRev,
    Override,
    PairId,
    RepoName,
    SandboxName,
)
from coevo.model.words import Cell, Outcome, WalkOfRow

# The requirements for building and running the tests of a task.


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEntry:
    """A library that a task's tests run with: its coordinates and the checksum of its bytes."""

    coordinates: Annotated[
        str, Column('The library with its version, as the registry of the language writes it.')
    ]
    sha256: Annotated[
        str,
        Column('SHA-256 of its bytes; where it has several files, of their sorted checksums.'),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The runtime, tools, commands and libraries that build and run a task's module.

    The commands stay empty while mining. The release fills them in, once it is known which tests
    form a task.
    """

    runtime: Annotated[str, Column('The version of the runtime (JDK, interpreter).')]
    build_tool: Annotated[str, Column('The build tool with its version.')]
    compile_command: Annotated[
        str,
        Column(
            'What builds the start state, at its root, with the network: a line for `sh`, with '
            '`runtime` as the runtime at hand. Plain tools, nothing of coevo.'
        ),
    ] = ''
    test_command: Annotated[
        str,
        Column(
            'What then runs the target tests, by their new names, and fails if one of them fails: a '
            'line for `sh` at the root. Of a suite it runs the whole test file. Build tools may pass '
            'over a test that is not there.'
        ),
    ] = ''
    libraries: Annotated[
        tuple[LibraryEntry, ...], Column('The libraries that the tests run with, in their order.')
    ]


# The row types of the tables `pairs`, `cells` and `timings`.


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A pair under a walk: dates, builds and measurements of its change.

    (pair_id, walk) is the key.
    """

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    language: LanguageName
    old_rev: OldRev
    new_rev: NewRev
    old_author_date: OldAuthorDate
    old_committer_date: OldCommitterDate
    new_author_date: NewAuthorDate
    new_committer_date: NewCommitterDate
    gap_hours: Annotated[
        float | None,
        Column(
            'Time between the two commits by committer date. Negative if clocks disagree,'
            ' null if a date is missing.',
            unit='hours',
        ),
    ]
    old_is_ancestor: Annotated[
        bool, Column('Whether the old commit is an ancestor of the new one.')
    ]
    build_changed: Annotated[
        bool,
        Column(
            'Whether a build file differs: one that says how the project is built and on '
            'which libraries it depends.'
        ),
    ]
    source_changed: Annotated[bool, Column('Whether production code or its resources differ.')]
    tests_changed: Annotated[bool, Column('Whether test code or its resources differ.')]
    test_only: Annotated[bool, Column('Whether tests differ and production code does not.')]
    builder_old: Annotated[
        str | None,
        Column(
            'How the old revision was built, by the name of the builder. Null if it was not built.'
        ),
    ]
    builder_new: Annotated[str | None, Column('The same of the new revision.')]
    build_old: Annotated[
        str | None,
        Column('`built`, or the first reason why something was not. Null if no build was tried.'),
    ]
    build_new: Annotated[str | None, Column('The same of the new revision.')]
    runtime: Annotated[
        str | None,
        Column(
            'The version of the runtime (JDK, interpreter) that built and ran both ends. '
            'Null if nothing was run.'
        ),
    ]
    runtimes_tried: Annotated[
        tuple[str, ...], Column('The runtimes that were tried, in this order.')
    ] = ()
    runtime_missing: Annotated[
        str | None,
        Column(
            'The release of the runtime (JDK, interpreter) that was to be tried next, or before the'
            ' one that was chosen, and could not be had. Null if none was missing, and in what was'
            ' mined before schema 2.1.'
        ),
    ] = None
    suite_old: Annotated[
        str | None,
        Column(
            'Whether all tests of the old revision pass on their own code: `pass`, or why not. Null if the profile does not ask.'
        ),
    ] = None
    suite_new: Annotated[str | None, Column('The same of the new revision.')] = None
    refactorings: Annotated[
        str | None,
        Column(
            '`found`, `unknown` with the reason, or `not_offered` if the language has no '
            'such tool. Null if it was not asked.'
        ),
    ] = None
    license: Annotated[
        str | None,
        Column(
            'The SPDX expression of the licence at the new revision. Null if it is '
            'unknown. Filled at release.'
        ),
    ] = None
    later_license: Annotated[
        str | None,
        Column(
            'The licence at the head of the walk, if the new revision says nothing of a licence: '
            'it was added later. The rows of such a pair are released by it, without their texts. '
            'Null otherwise.'
        ),
    ] = None
    # Each entry is `name version`; a tool that did not run has none. Each package of a JDK that
    # coevo installed has an entry, too: `name version sha256:DIGEST`.
    tools: Annotated[
        tuple[str, ...],
        Column(
            'The tools that measured the pair, each as `name version`; empty if nothing was run.'
        ),
    ] = ()
    candidates: Annotated[int, Column('Test methods that entered the filter.', unit='methods')]
    tests_compared: Annotated[
        int | None,
        Column(
            'Test methods of both revisions, each counted once, in files that differ or may use'
            ' something that differs: `candidates` + `tests_alike` + `tests_undrawn`. Null if the pair'
            ' was dropped.',
            unit='methods',
        ),
    ] = None
    tests_alike: Annotated[
        int | None,
        Column(
            'Those of `tests_compared` that were not looked at: neither they nor what they use of'
            ' the tests differs, and their text reaches no changed code. Null if the pair was'
            ' dropped.',
            unit='methods',
        ),
    ] = None
    tests_undrawn: Annotated[
        int | None,
        Column(
            'Those of `tests_compared` that did not change, nor what they use of the tests, and'
            ' that were not drawn for the sample of such tests; their text may reach changed code.'
            ' 0 without a gate. Null if the pair was dropped.',
            unit='methods',
        ),
    ] = None
    tests_apart: Annotated[
        int | None,
        Column(
            'Test methods of the new revision that were not looked at because their file neither'
            ' differs nor uses anything that does. Null if the pair was dropped.',
            unit='methods',
        ),
    ] = None
    umpire_old: Annotated[
        str | None,
        Column(
            "Whether the project's own command ran the tests of the old revision: `ran`, or why not."
            ' It is asked where a dropped method does not pass there. Null if it was not asked.'
        ),
    ] = None
    umpire_new: Annotated[str | None, Column('The same of the new revision.')] = None
    sandbox: SandboxName
    engine_version: Annotated[
        str | None,
        Column(
            'The digest of the code that decided the rows of the pair; pairs of one digest can be'
            ' compared. Null in snapshots of schema 2.'
        ),
    ]
    changed_kinds: Annotated[
        tuple[str, ...] | None,
        Column(
            'What differs of production: `code` for files of the language, `kotlin`, `groovy`,'
            ' `scala`, `resource`, `template` for grammars and the like, and `other` for assembly,'
            ' and if a test breaks by a file that no rule names. Empty if nothing does, null in what was mined'
            ' before this column.'
        ),
    ] = None
    absent_files: Annotated[
        tuple[str, ...] | None,
        Column(
            'Files of either end of which the clone lacks the content, since it is a partial one.'
            ' No test that decides a row of the pair read one. Empty if there are none, null if'
            ' nothing was compared, and in what was mined before this column.'
        ),
    ] = None
    functions: Annotated[
        int | None,
        Column(
            'Production functions and methods that the pair inserted, modified or removed, and'
            ' those in them, as lizard finds them. Null if nothing was run, or if it finds none.',
            unit='functions',
        ),
    ] = None
    function_lines: Annotated[
        int | None,
        Column(
            'Lines of these functions, without blank ones and comments, at new, or at old of what'
            ' was removed. Null if nothing was run, or if lizard knows none.',
            unit='lines',
        ),
    ] = None
    complexity: Annotated[
        int | None,
        Column(
            'The largest cyclomatic complexity of these functions (McCabe, as lizard counts it).'
            ' Null if nothing was run, or if lizard knows none.',
            unit='paths',
        ),
    ] = None
    parameters: Annotated[
        int | None,
        Column(
            'The most parameters of one of these functions. Null if nothing was run, or if lizard'
            ' knows none.',
            unit='parameters',
        ),
    ] = None
    file_commits: Annotated[
        int | None,
        Column(
            'Commits up to the old revision that changed a production file in which the pair'
            ' changes a declaration; a merge that only takes over changes is none. Null if nothing'
            ' was run, if no such file stands at old, or if the clone does not tell.',
            unit='commits',
        ),
    ] = None
    file_contributors: Annotated[
        int | None,
        Column(
            'Different mail addresses of the authors of these commits. Null where `file_commits` is.',
            unit='persons',
        ),
    ] = None
    file_age_days: Annotated[
        float | None,
        Column(
            'Time from the oldest of these commits to the old revision, by committer date. Negative'
            ' if clocks disagree, null where `file_commits` is.',
            unit='days',
        ),
    ] = None
    lines_added: Annotated[
        int | None,
        Column(
            'Lines that the pair adds to production files in which it changes a declaration, as'
            " PyDriller counts them of Git's diff; blank ones and comments count. Null if nothing was"
            ' run, if there is no such file or there are more than 200, if one has more than 256 KiB'
            ' or all together 4 MiB, or if the clone does not tell.',
            unit='lines',
        ),
    ] = None
    lines_removed: Annotated[
        int | None,
        Column(
            'Lines that it removes from these files. Null where `lines_added` is.', unit='lines'
        ),
    ] = None
    hunks: Annotated[
        int | None,
        Column(
            'Runs of adjacent lines that it adds or removes in these files (PyDriller). Null'
            ' where `lines_added` is.',
            unit='hunks',
        ),
    ] = None
    dmm_size: Annotated[
        float | None,
        Column(
            'The Delta Maintainability Model of PyDriller for the length of functions in these files:'
            ' of the lines of functions that come or go, the share that is for the better, as'
            ' functions of at most 15 lines that come or longer ones that go. Null where'
            ' `lines_added` is, or if on balance no such line comes or goes.',
            unit='share',
        ),
    ] = None
    dmm_complexity: Annotated[
        float | None,
        Column(
            'The same for cyclomatic complexity, with functions of at most 5 paths.', unit='share'
        ),
    ] = None
    dmm_interfacing: Annotated[
        float | None,
        Column('The same for parameters, with functions of at most 2.', unit='share'),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One run of one test method in one cell."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    method_id: MethodId
    cell: Annotated[Cell, Column('Whose tests ran on whose code.')]
    repeat: Annotated[int, Column('The number of this run in its cell, from 0.')]
    order: Annotated[
        str,
        Column(
            'In which order the tests of the run stood: `given`, `reversed`, `alone` (one'
            ' method per process), or `compile` for a verdict of the compiler.'
        ),
    ]
    outcome: Annotated[
        Outcome, Column('What the method did, if it is compiled with what it needs alone.')
    ]
    unit_outcome: Annotated[
        Outcome,
        Column(
            "What the method did by the verdict of the project's own tool, for which one "
            'error breaks the whole unit.'
        ),
    ]
    signature: Annotated[
        str | None,
        Column(
            'What failed and where: the exception type with the first frame of the '
            "project, or the compiler's code and symbol. Null if nothing failed."
        ),
    ]
    override: Override


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentRow:
    """The environment of a module at a pair's new revision; its segment keeps it for the tasks."""

    pair_id: str
    module: str
    environment: Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingRow:
    """The cost of one step of a pair; not covered by the snapshot's checksums."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    step: Annotated[
        str, Column('What took the time, such as `diff`, `build`, `compile` or `run_alone`.')
    ]
    cpu_seconds: Annotated[float, Column('Processor time of the step.', unit='seconds')]
    wall_seconds: Annotated[float, Column('Elapsed time of the step.', unit='seconds')]
    count: Annotated[int, Column('How often the step was taken.', unit='times')]

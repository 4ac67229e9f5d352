"""The rows of tasks, of their start states and of withdrawals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.model.column import (
    CodeFirstSeen,
    Column,
    DateBasis,
    FocalMethod,
    IsAncestor,
    LanguageName,
    Licence,
    ModuleFolder,
    NewAuthorDate,
    NewCommitterDate,
    NewRev,
    OldAuthorDate,
    OldCommitterDate,
    OldRev,
    PairId,
    RepoName,
    TestFile,
    TextsWithheld,
)
from coevo.model.dependencies import Dependency, DependencyList
from coevo.model.families import (
    Complexity,
    Defect,
    DemandedTest,
    Family,
    Focus,
    MaintainedMethod,
    Scenario,
    StartBuilder,
    SuiteAdequacy,
    TestRole,
    Unit,
)
from coevo.model.pair_rows import Environment
from coevo.model.quality import SiblingTargets
from coevo.model.records import TestMethod
from coevo.model.words import ShownBy, Track, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRow:
    """The parts of a task's start state besides its own test file, kept in the segment for the
    task.

    here           tests of its own file that are targets of other tasks and are missing from the
                   start file
    reads_sources  whether a gold test fails in it if the main sources are absent
    """

    pair_id: str
    walk: Walk
    track: Track
    test_file: str
    siblings: tuple[SiblingTargets, ...]
    sibling_patch: str
    here: tuple[TestMethod, ...] = ()
    reads_sources: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task: its targets, start state, gold patch, environment and prompt; task_id is the key."""

    task_id: Annotated[
        str,
        Column(
            'The task: a hash of repository, language, both revisions, track (of suites: family) '
            'and test file.'
        ),
    ]
    also_at: Annotated[tuple[str, ...], Column('The `pair_id` of other pairs with the same edit.')]
    pair_id: PairId
    repo: RepoName
    url: Annotated[
        str | None, Column('Where the repository was cloned from. Null for a local one.')
    ]
    license: Licence
    language: LanguageName
    track: Annotated[Track, Column('What is to be done.')]
    walk: Annotated[
        Walk,
        Column(
            'The walk whose row this is: the first of `parents`, `first-parent`, `states`'
            ' and `window` that has the task.'
        ),
    ]
    old_rev: OldRev
    new_rev: NewRev
    old_is_ancestor: IsAncestor = None
    old_author_date: OldAuthorDate
    old_committer_date: OldCommitterDate
    new_author_date: NewAuthorDate
    new_committer_date: NewCommitterDate
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which the answer may have been public. Null if that '
            'cannot be told; null is never clean. Of all target methods the earliest; '
            'null if that of one is null.'
        ),
    ]
    contamination_basis: DateBasis
    code_first_seen: CodeFirstSeen
    module: ModuleFolder
    test_file: TestFile
    test_methods: Annotated[
        tuple[str, ...],
        Column(
            'The target methods, each as `Container#method`, in the order of `method_ids`. Empty '
            'where a suite is asked for.'
        ),
    ]
    method_ids: Annotated[
        tuple[str, ...],
        Column('The `method_id` of each target. Empty where a suite is asked for.'),
    ]
    start_file_sha256: Annotated[
        str | None,
        Column(
            'SHA-256 of the test file at the start. Null if the file does not exist at the start.'
        ),
    ]
    test_patch: Annotated[
        str,
        Column(
            'The gold patch: a unified diff from the start state to the new revision, of '
            'the test file alone.'
        ),
    ]
    source_patch: Annotated[
        str,
        Column(
            'The change of the production code from old to new, as a unified diff. Build '
            'files are no part of it.'
        ),
    ]
    dependencies: Annotated[
        tuple[Dependency, ...],
        Column('The changed production declarations that the targets depend on, best first.'),
    ]
    dependency_list: Annotated[
        DependencyList | None,
        Column(
            'Which of them the prompt, the focal method and coverage go by. Null in data '
            'that does not say.'
        ),
    ] = None
    focal_method: FocalMethod
    focal_source: Annotated[
        str | None,
        Column(
            'The text of the focal method at the new revision, or at the old one if it was removed.'
            ' Null if there is no focal method, and before schema 2.1.'
        ),
    ] = None
    environment: Annotated[
        Environment | None,
        Column('What it takes to build and run the module. Null if it is not known.'),
    ]
    prompt: Annotated[
        str | None,
        Column(
            'What an agent is told, in the words of TestEvo-Bench (A.3). Null in data '
            'that has none.'
        ),
    ] = None
    prompt_version: Annotated[
        str | None, Column('The version of that text. Null if there is no prompt.')
    ] = None
    released: Annotated[
        str | None,
        Column(
            'The month of the snapshot that had the task first, as `YYYY-MM`. Null before the release.'
        ),
    ] = None
    coverage_gold: Annotated[
        float | None,
        Column(
            'Line coverage of the gold tests, the mean over the targets; an unmeasured '
            'one counts as 0. Null if none was measured.',
            unit='0 to 1',
        ),
    ] = None
    coverage_gold_success: Annotated[
        float | None, Column('The same over the measured targets alone.', unit='0 to 1')
    ] = None
    code_coverage_gold: Annotated[
        float | None,
        Column('The same as `coverage_gold`, over the lines that hold code.', unit='0 to 1'),
    ] = None
    code_coverage_gold_success: Annotated[
        float | None, Column('The same over the measured targets alone.', unit='0 to 1')
    ] = None
    mutation_score_gold: Annotated[
        float | None,
        Column(
            'The share of mutants that the gold tests kill, the mean over the targets; an'
            ' unmeasured one counts as 0. Null if none was measured.',
            unit='0 to 1',
        ),
    ] = None
    mutation_score_gold_success: Annotated[
        float | None, Column('The same over the measured targets alone.', unit='0 to 1')
    ] = None
    strict_askable: Annotated[
        bool | None,
        Column(
            'Whether strict success can be asked of all of its targets, since gold has it. Null '
            'for suites, or if neither mutants nor undone changes were run for a target.'
        ),
    ] = None
    siblings: Annotated[
        tuple[SiblingTargets, ...] | None,
        Column(
            "Targets of the pair's other tasks, which the start state does not show. Null"
            ' in data that does not say.'
        ),
    ] = None
    sibling_patch: Annotated[
        str | None,
        Column(
            'A unified diff from the new revision to the start state, of the other test '
            'files. Null in data that does not say.'
        ),
    ] = None
    start_files: Annotated[
        str | None,
        Column(
            'The files of the start state that differ from the new revision, as JSON: the text of '
            'each path, null for an absent file, or `{"base64": …}` for bytes that are no UTF-8. '
            'Null but in an edition that withholds gold, which has no patches that lead there.'
        ),
    ] = None
    leak: Annotated[
        float | None,
        Column(
            'The share of the gold text that the start state still shows, in what this '
            'pair added. Null in data that does not say.',
            unit='0 to 1',
        ),
    ] = None
    nearest: Annotated[
        float | None, Column('The same in what stood at the old revision already.', unit='0 to 1')
    ] = None
    trivial: Annotated[
        bool | None,
        Column(
            'Whether all targets change by values, or by a few literals, names or arguments alone, or '
            'in one short place, as the failure shows; whether an extension adds no more than one row '
            'of a table, or neither an assertion nor a value; whether a new test copies another test '
            'with a few other words. Null for other families, and in data that does not say.'
        ),
    ] = None
    moved: Annotated[
        bool | None,
        Column(
            'Whether all targets were in another place at the old revision, under the same name, '
            'and are gone there. Null likewise.'
        ),
    ] = None
    shown_by: Annotated[
        tuple[ShownBy, ...] | None,
        Column(
            'What of the start state shows the form of a new test, beside the text that `leak` '
            'measures; empty if nothing does. Null likewise.'
        ),
    ] = None
    reached: Annotated[
        tuple[str, ...] | None,
        Column(
            'The names of the dependencies that the gold assertions reach: gold runs and fails if '
            'the change is undone, or, where it cannot be undone, with a mutant of its lines. Null for other families, or if '
            'neither was run.'
        ),
    ] = None
    focus_agreed: Annotated[
        bool | None,
        Column(
            'Whether at least half of the targets reach a change that the prompt names. Null if `reached` is.'
        ),
    ] = None
    reads_sources: Annotated[
        bool | None,
        Column(
            'Whether the gold test fails if the production sources do not lie beside it. '
            'Null if that was not asked.'
        ),
    ] = None
    family: Annotated[
        Family | None,
        Column('What kind of question it is. Null in data of a schema before 2.1: `coevolution`.'),
    ] = None
    scenario: Annotated[
        Scenario | None,
        Column('What is to be done with the suite. Null for `coevolution`, whose `track` says it.'),
    ] = None
    focus: Annotated[
        tuple[Focus, ...] | None,
        Column('The code that the suite is about. Null for `coevolution`, see `dependencies`.'),
    ] = None
    start_builder: Annotated[
        StartBuilder | None,
        Column('How the start state is made of the new revision. Null in older data.'),
    ] = None
    start_adequacy: Annotated[
        SuiteAdequacy | None,
        Column('What the suite is worth at the start. Null for `coevolution`, or if it is absent.'),
    ] = None
    gold_adequacy: Annotated[
        SuiteAdequacy | None,
        Column('What the gold suite is worth. Null for `coevolution`.'),
    ] = None
    defect: Annotated[
        Defect | None,
        Column(
            'What is wrong with the test file at the start, which the prompt does not say. Null if nothing was put in.'
        ),
    ] = None
    unit_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which code of the focus may have been public. Null if that '
            'cannot be told, and for `coevolution`, see `code_first_seen`.'
        ),
    ] = None
    maintained: Annotated[
        tuple[MaintainedMethod, ...] | None,
        Column(
            'Each test of the old and of the new file, and what the change asks of it. Null but for '
            '`maintenance`.'
        ),
    ] = None
    demanded: Annotated[
        tuple[DemandedTest, ...] | None,
        Column(
            'The labelled tests by which the code is graded: targets, which are shown, and siblings, '
            'which are not. Null but for `implement`.'
        ),
    ] = None
    unit: Unit = None
    complexity: Complexity = None
    executing_tests: Annotated[
        int | None,
        Column(
            'How many tests of the revision, of whatever file whose tests all pass, execute the '
            'function. Null but for `function`.',
            unit='tests',
        ),
    ] = None
    executing_files: Annotated[
        int | None,
        Column('In how many test files these are. Null likewise.', unit='files'),
    ] = None
    texts_withheld: TextsWithheld = False

    @property
    def asks_for_code(self) -> bool:
        """True if code is to be written, and not tests."""
        return self.family is Family.IMPLEMENT

    @property
    def gold_patch(self) -> str:
        """The developers' own answer: the patch from the start state to the new revision."""
        return self.source_patch if self.asks_for_code else self.test_patch

    @property
    def shown_target_names(self) -> tuple[str, ...]:
        """The targets that a task that asks for code shows; () for all others."""
        return tuple(
            each.test_method for each in self.demanded or () if each.role is TestRole.TARGET
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnRow:
    """A row that an earlier snapshot had and a later one withdrew, with the reason."""

    table: Annotated[str, Column('The table that the row stood in.')]
    id: Annotated[str, Column('The key of the row, such as a `task_id`.')]
    reason: Annotated[str, Column('Why it was withdrawn.')]
    month: Annotated[str, Column('The month whose snapshot withdrew it, as `YYYY-MM`.')]
    reissued: Annotated[
        bool, Column('Whether it is there again, or is still there with another date.')
    ] = False

"""The records of a report, most of them filled by figures.py.

`report.schema.json` describes them for other tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.reporting import bootstrap
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.text_records import SuiteTexts
from coevo.model.families import Family, Scenario, StartBuilder
from coevo.model.words import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRates:
    """Shares from 0 to 1 that add up to 1.

    redundant  None except for generation and extension
    weakened   None except for extension
    """

    success: MeanEstimate
    redundant: MeanEstimate | None
    weakened: MeanEstimate | None
    exec_fail: MeanEstimate
    cmpl_fail: MeanEstimate
    hrns_fail: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardFields:
    """The eight fields of the leaderboard, by the paper's names; shares from 0 to 1.

    avg_coverage_…        over the executable lines of the changed declarations
    avg_range_coverage_…  over all of their lines from first to last, as the paper prints Eq. 1
    """

    avg_coverage_pred: MeanEstimate
    avg_coverage_pred_success: MeanEstimate
    avg_coverage_gold: MeanEstimate
    avg_coverage_gold_success: MeanEstimate
    avg_range_coverage_pred: MeanEstimate
    avg_range_coverage_pred_success: MeanEstimate
    avg_range_coverage_gold: MeanEstimate
    avg_range_coverage_gold_success: MeanEstimate
    avg_mutation_score_pred: MeanEstimate
    avg_mutation_score_pred_success: MeanEstimate
    avg_mutation_score_gold: MeanEstimate
    avg_mutation_score_gold_success: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPassMeans:
    """A row of Tables 6 to 9, whose columns are these: Cov, CovOnPass, CovOnPassHuman, ΔCovOnPass.

    gold   over the methods that passed and were measured
    delta  submitted minus gold, over the methods that have both
    """

    wide: MeanEstimate
    pred: MeanEstimate
    gold: MeanEstimate
    delta: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellCount:
    """The number of methods with a smell: submitted tests and gold tests."""

    pred: int
    gold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraMeasures:
    """Figures that the paper does not report; macro-averaged over tasks, of the measured methods.

    strict_askable       number of methods of which strict success can be asked, since gold has it
    success_strict       share of the strict successes among those of these methods for which it is
                         known. A strict success executes the change, reaches an assertion, notices
                         an undone change that gold notices, kills a mutant that gold kills, and its
                         patch harms no other test
    vacuous              share of all methods that pass and are known to be unable to check the
                         change
    …_unknown            methods of which it is asked (strict), or that pass (vacuous), for which
                         this is unknown
    relative_kill        |pred ∩ gold| / |gold|
    oracle_preserved     share of the methods for which it is known
    oracle_preservation  share of the mutants of unchanged lines killed by the old test that are
                         still killed
    mutants, smells_*    mean numbers
    smells               the number of passing submitted tests with each smell, and of their gold
                         tests
    """

    strict_askable: int
    success_strict: MeanEstimate
    success_strict_unknown: int
    vacuous: MeanEstimate
    vacuous_unknown: int
    relative_kill: MeanEstimate
    branch_coverage_pred: MeanEstimate
    branch_coverage_gold: MeanEstimate
    reversals_pred: MeanEstimate
    reversals_gold: MeanEstimate
    oracle_preserved: MeanEstimate
    oracle_preservation: MeanEstimate
    mutants: MeanEstimate
    smells_pred: MeanEstimate
    smells_gold: MeanEstimate
    smells: Mapping[str, SmellCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSubset:
    """The rates of a part of a track, without methods that coevo's own trouble hit."""

    name: str
    tasks: int
    methods: int
    macro: OutcomeRates
    micro: OutcomeRates


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedRates:
    """A row of Table 10.

    tasks_within              tasks that cost at most the cap; `kept` is their share of all (Figure
                              5)
    avg_tokens, avg_cost_usd  means over those of these tasks for which they are reported
    micro                     rates over all methods
    """

    cap_usd: float
    tasks_within: int
    kept: float
    avg_tokens: MeanEstimate
    avg_cost_usd: MeanEstimate
    micro: OutcomeRates


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPoint:
    """A point of the cost curve: `share` of all tasks cost at most `cost_usd`."""

    cost_usd: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The costs of a track: its tasks, the rates under caps, and the cost curve."""

    tasks: int
    tasks_without_cost: int
    caps: Sequence[CappedRates]
    curve: Sequence[CostPoint]


@dataclass(frozen=True, slots=True, kw_only=True)
class PitSummary:
    """PIT's advisory mutation scores of byte code in the changed methods; means over methods.

    pred, gold  over the same methods: those with mutants for which both results are known
    troubles    the number of methods for each reason why nothing is known
    """

    pred: MeanEstimate
    gold: MeanEstimate
    troubles: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackReport:
    """All figures of a track.

    Except in `infra_…`, methods with trouble of coevo's own do not count.

    details             the number of methods for each reason why they are no success
    exits               the number of tasks for each exit status of the agent
    macro, micro        means over tasks (Table 3), and over methods; `…_by_module`: one broken file
                        breaks its module
    coverage, mutation  Tables 6 to 9, coverage over the executable lines
    range_coverage      the same over all lines of the declarations, as the paper prints Eq. 1
    pit                 None if PIT did not run
    """

    track: Track
    tasks: int
    methods: int
    repositories: int
    infra_tasks: int
    infra_methods: int
    details: Mapping[str, int]
    exits: Mapping[str, int]
    macro: OutcomeRates
    macro_by_module: OutcomeRates
    micro: OutcomeRates
    micro_by_module: OutcomeRates
    fields: LeaderboardFields
    coverage: OnPassMeans
    range_coverage: OnPassMeans
    mutation: OnPassMeans
    beyond: ExtraMeasures
    half_years: Sequence[TrackSubset]
    causes: Sequence[TrackSubset]
    costs: CostReport | None
    pit: PitSummary | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteMeasure:
    """A share of the focus that suites reach, such as covered lines, from 0 to 1.

    over_all     over all suites for which it is known; a suite without a passing test counts as 0
    over_ran     the same over the suites that ran
    start, gold  over the tasks of `over_all`; 0 if the start file is absent
    gain         the value of a suite minus that of its start, 0 if not every test passes
                 (TAM-Eval's ΔTestCov and ΔMutCov); only where both are known
    unknown      suites that ran and for which the share is unknown
    """

    over_all: MeanEstimate
    over_ran: MeanEstimate
    start: MeanEstimate
    gold: MeanEstimate
    gain: MeanEstimate
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReport:
    """The figures of those tasks of a family that have the same kind of start."""

    start_builder: StartBuilder
    scenario: Scenario | None
    tasks: int
    success: MeanEstimate
    lines: SuiteMeasure
    mutation: SuiteMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """The figures of a family whose tasks have an expected action for each test.

    done              of tasks with a test to update: those in which nothing below was missed or
                      done wrongly; additions do not count
    missed_updates    of tests that the change breaks: those that do not pass, or are gone
    false_edits       of tests that should stay as they are: those with another text, weaker, broken
                      or gone
    harmed            of tests that should stay, even if rewritten: those weaker, broken or gone
    wrong_deletions   of these tests and those that the change breaks: those gone
    missed_deletions  of tests that gold deletes and the change breaks: those that stay and do not
                      pass
    additions         of tests that gold adds: those that the submission has under that name, and
                      that pass
    outcomes          the number of tests for each outcome, by expected action
    unknown           tests whose label is not confirmed by the runs here
    strength_unknown  edited tests for which it is unknown whether they are weaker
    """

    done: MeanEstimate
    missed_updates: MeanEstimate
    false_edits: MeanEstimate
    harmed: MeanEstimate
    wrong_deletions: MeanEstimate
    missed_deletions: MeanEstimate
    additions: MeanEstimate
    outcomes: Mapping[str, int]
    unknown: int
    strength_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplementReport:
    """The figures of the family that asks for code.

    strict      of all tasks but successes without tests that are not shown: those that hold for
                these, too
    overfitted  of such tasks that are a success, those that do not hold for these
    kept        of tests that passed at the start and were run, those that still pass
    siblings    of targets of other test files that were run, those that pass
    variants    of targets with other literals that were run, those that end as with gold
    """

    strict: MeanEstimate
    overfitted: MeanEstimate
    kept: MeanEstimate
    siblings: MeanEstimate
    variants: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyReport:
    """All figures of a family.

    Except in `infra`, suites with trouble of coevo's own do not count.

    outcomes       the number of suites for each outcome
    details        the number of suites for each reason
    success        every test passes; `ran`: a test ran; `builds`: every test compiles
    passing        the share of a suite's tests that pass, 0 if it has no tests
    unique_lines   the share of the lines of the focus that exactly one test executes; 0 if no test
                   passes
    cascading      the share of failing tests whose cause another failing test shares, over suites
                   that ran and have failing tests
    passing_alone  the share of passing tests among those without a shared cause, where there are
                   such tests
    starts         the same figures by kind of start, where it is known
    maintenance    the outcomes of the tests, where tasks have an expected action for each
    implement      what holds beyond the targets, where code is asked for
    texts          smells, assertions, and why tests do not compile or pass
    """

    family: Family
    tasks: int
    repositories: int
    infra: int
    outcomes: Mapping[str, int]
    details: Mapping[str, int]
    success: MeanEstimate
    ran: MeanEstimate
    builds: MeanEstimate
    passing: MeanEstimate
    lines: SuiteMeasure
    branches: SuiteMeasure
    methods: SuiteMeasure
    mutation: SuiteMeasure
    unique_lines: MeanEstimate
    cascading: MeanEstimate
    passing_alone: MeanEstimate
    texts: SuiteTexts
    starts: tuple[StartReport, ...] = ()
    maintenance: MaintenanceReport | None = None
    implement: ImplementReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFigures:
    """The figures of k attempts, each a mean over tasks.

    solved            tasks that at least one of k attempts solves
    correct           share of the first k attempts that solve the task (ULT calls this Pass@k); not
                      given for `feedback`
    lines, mutation   shares of the focus of a suite. For `feedback`, those of the attempt that
                      counts after k attempts: the first that solves the task, or else the last. For
                      `diversify`, those of the first k together. Not given for `once`
    branches          the same, as a lower bound: two attempts may take different branches of a line
    mutation_correct  the same as `mutation`, only over tasks that all attempts solve (as in ULT's
                      script)
    unknown           tasks left out of `solved`, because trouble of coevo's own kept attempts from
                      being judged
    """

    k: int
    solved: MeanEstimate
    correct: MeanEstimate
    lines: MeanEstimate
    branches: MeanEstimate
    mutation: MeanEstimate
    mutation_correct: MeanEstimate
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """The figures of several attempts, for a track or a family of suites.

    of        the name of the track or family
    attempts  the most attempts at a task
    """

    of: str
    protocol: AttemptProtocol
    attempts: int
    tasks: int
    at: Sequence[AttemptFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """The dates from which the answers to the tasks may have been public.

    first, last  ISO 8601, over the tasks with a known date; None if there are none
    unknown      tasks without a known date
    clean        tasks that became public only after the cutoff of the model that answered them
    cutoff       only tasks public after this day were scored; None if tasks of any date were
    """

    first: str | None
    last: str | None
    unknown: int
    clean: int
    cutoff: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary:
    """A harness and model, and the number of its tasks; None if a prediction does not name it.

    cutoff         the model's training cutoff; None if no source states one
    cutoff_source  the source that states it
    """

    harness: str | None
    model: str | None
    tasks: int
    cutoff: str | None = None
    cutoff_source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """The settings of the bootstrap that made the intervals."""

    over: str = 'repositories'
    confidence: float = bootstrap.CONFIDENCE
    resamples: int = bootstrap.RESAMPLES
    seed: int = bootstrap.SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The content of `report.json`.

    tasks_sha256        over the test methods; reports with the same value can be compared
    predictions_sha256  over the hashes of all predictions, in the order of their tasks
    outcomes_sha256     over the outcome of each test method, and whether it is a strict success;
                        equal if two evaluations of the same predictions agree

    The last two cover all attempts. Of the figures only `attempts` does, which is empty if each
    task was attempted once. All other figures are of first attempts.
    """

    report_version: int
    results_version: int
    engine_versions: Sequence[str]
    sandboxes: Sequence[str]
    snapshot_sha256: str
    tasks_sha256: str
    predictions_sha256: str
    outcomes_sha256: str
    exposure: Exposure
    systems: Sequence[SystemSummary]
    tasks: int
    methods: int
    repositories: int
    intervals: BootstrapSettings
    tracks: Sequence[TrackReport]
    families: Sequence[FamilyReport] = ()
    attempts: Sequence[AttemptReport] = ()

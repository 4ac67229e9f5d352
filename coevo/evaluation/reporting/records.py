"""What a report holds; `report.schema.json` says the same to other tools, and figures.py fills most of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.reporting import bootstrap
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.languages.error_classes import ErrorClass
from coevo.model.families import Family, Scenario, StartBuilder
from coevo.model.words import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRates:
    """Shares from 0 to 1 that sum up to 1; `redundant` is None but for generation."""

    success: MeanEstimate
    redundant: MeanEstimate | None
    exec_fail: MeanEstimate
    cmpl_fail: MeanEstimate
    hrns_fail: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardFields:
    """The leaderboard's eight, by the paper's names; shares from 0 to 1."""

    avg_coverage_pred: MeanEstimate
    avg_coverage_pred_success: MeanEstimate
    avg_coverage_gold: MeanEstimate
    avg_coverage_gold_success: MeanEstimate
    avg_mutation_score_pred: MeanEstimate
    avg_mutation_score_pred_success: MeanEstimate
    avg_mutation_score_gold: MeanEstimate
    avg_mutation_score_gold_success: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPassMeans:
    """A row of Tables 6 to 9, whose columns are these: Cov, CovOnPass, CovOnPassHuman, ΔCovOnPass.

    gold   on the methods that passed and were measured
    delta  submitted less gold, over the methods that have both
    """

    wide: MeanEstimate
    pred: MeanEstimate
    gold: MeanEstimate
    delta: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellCount:
    pred: int
    gold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraMeasures:
    """What the paper does not report; macro over tasks, of the methods that could be measured.

    success_strict      of all methods, those that are known to be more than a Success: they execute
                        the change, reach an assertion, notice a reversal that gold notices, kill
                        a mutant that gold kills, and their patch costs no other test
    vacuous             of all methods, those that pass and are known to tell nothing of the change
    …_unknown           methods that succeed, or pass, and of which it could not be told
    relative_kill       |pred ∩ gold| / |gold|
    oracle_preserved    of the methods where it could be told
    oracle_preservation of the mutants of unchanged lines that the old test killed, those still killed
    mutants, smells_*   how many there are in the mean
    smells              of the submitted tests that pass: how many methods have each, and gold's
    """

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
    """`tasks` and `methods` are those that count, without trouble of ours."""

    name: str
    tasks: int
    methods: int
    macro: OutcomeRates
    micro: OutcomeRates


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedRates:
    """A row of Table 10.

    tasks_within         tasks that cost at most the cap; `kept` is their share of all (Figure 5)
    avg_tokens, avg_cost means over these tasks, of those that say it
    micro                over all methods
    """

    cap_usd: float
    tasks_within: int
    kept: float
    avg_tokens: MeanEstimate
    avg_cost_usd: MeanEstimate
    micro: OutcomeRates


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPoint:
    """That share of all tasks costs at most so much."""

    cost_usd: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    tasks: int
    tasks_without_cost: int
    caps: Sequence[CappedRates]
    curve: Sequence[CostPoint]


@dataclass(frozen=True, slots=True, kw_only=True)
class PitSummary:
    """Mutation scores of byte code in the changed methods, as PIT says; means over methods.

    pred, gold  on the same methods: those that have mutants of which both are known
    troubles    how many methods have which reason not to be known
    """

    pred: MeanEstimate
    gold: MeanEstimate
    troubles: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackReport:
    """All figures of a track. But for `infra_…`, trouble of ours counts nowhere.

    details   how many methods have which reason not to be a success
    exits     how many tasks an agent left with which exit status
    macro     over tasks (Table 3), micro: over methods; `…_by_module` as a compiler would have it
    coverage, mutation   Tables 6 to 9; code_coverage: over the lines that have code
    pit       None where it was not asked for
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
    code_coverage: OnPassMeans
    mutation: OnPassMeans
    beyond: ExtraMeasures
    half_years: Sequence[TrackSubset]
    causes: Sequence[TrackSubset]
    costs: CostReport | None
    pit: PitSummary | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteMeasure:
    """A share of the focus from 0 to 1.

    start, gold  over the tasks of `over_all`; an absent start is 0
    gain         what a suite is worth beyond its start, 0 of one of which not every test passes
                 (TAM-Eval's ΔTestCov and ΔMutCov); of those alone of which both are known
    unknown      suites that ran and of which it is not known
    """

    over_all: MeanEstimate
    over_ran: MeanEstimate
    start: MeanEstimate
    gold: MeanEstimate
    gain: MeanEstimate
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReport:
    """The figures of the tasks of a family that start in one way."""

    start_builder: StartBuilder
    scenario: Scenario | None
    tasks: int
    success: MeanEstimate
    lines: SuiteMeasure
    mutation: SuiteMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellMeans:
    """Tests of a suite that have a smell."""

    over_all: MeanEstimate
    over_ran: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCounts:
    """Errors of a class: `errors` by suite and signature, `codes` by what the compiler calls them."""

    suites: int
    errors: int
    codes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellsAndErrors:
    """Smells and errors that occur.

    smells_unknown  suites that ran and of which a test was not looked at
    failures        how many tests that ran failed with which exception
    """

    smells: Mapping[str, SmellMeans]
    smells_unknown: int
    errors: Mapping[ErrorClass, ErrorCounts]
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """The figures of a family whose tasks say what is asked of each test.

    done            tasks of which nothing that counts below was missed or done wrongly, but for additions
    missed_updates  of tests that the change breaks: they do not pass, or are gone
    false_edits     of tests that have to stay as they are: another text, weaker, broken or gone
    harmed          of those that have to stay, be it rewritten: weaker, broken or gone
    wrong_deletions of the same and of those that the change breaks: gone
    missed_deletions  of tests that gold deletes, and that the change breaks: they stay, and do not pass
    additions       of tests that gold adds: the submission has one of the name, and it passes
    outcomes        how many tests have which, by what was asked of them
    unknown         tests of which runs here do not bear out the label
    strength_unknown  edited tests of which nobody can tell whether they are weaker
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
class FamilyReport:
    """All figures of a family. But for `infra`, trouble of ours counts nowhere.

    outcomes  how many suites have which
    details   how many have which reason
    success   every test passes; `ran`: a test was run; `builds`: every test compiles
    passing   share of a suite's tests that pass, 0 where none was run
    unique_lines   lines of the focus that one test alone executes, of all of them; 0 where none was run
    cascading      share of the tests that do not pass that fail for a cause which another one shares, of suites that
                   ran and have such tests
    passing_alone  share of tests that pass, of those that share no cause, where there are such
    starts    the same by how tasks start, where that is known
    maintenance  what became of each test, where tasks say what is asked of it
    texts  smells, and why tests do not compile or pass
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
    texts: SmellsAndErrors
    starts: tuple[StartReport, ...] = ()
    maintenance: MaintenanceReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFigures:
    """The figures of k attempts, each a mean over tasks.

    solved           tasks that one of k attempts solves
    correct          share of the first k that solve it (ULT calls this Pass@k); of `feedback`, of nothing
    lines, mutation  shares of the focus of a suite: of `feedback`, what the attempt is worth that stands after
                     k of them, which is the first that solves it or else the last; of `diversify`, what the
                     first k are worth together; of `once`, of nothing
    branches         the same, at least: of a line, those that one of k takes may be others than those of another
    mutation_correct the same as `mutation`, of those tasks alone all attempts at which solve them (ULT's script)
    unknown          tasks that are left out of `solved`, as trouble of ours kept attempts from being judged
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
    """Of a track, or of a family of suites; `attempts` is how many a task has at most."""

    of: str
    protocol: AttemptProtocol
    attempts: int
    tasks: int
    at: Sequence[AttemptFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Since when the answers to the tasks may have been public.

    first, last  ISO 8601, of those tasks of which it is known; None where of none
    unknown      tasks of which it is not known
    clean        tasks that were public only after the cutoff of the model that answered them
    cutoff       only tasks public after this day were scored; None where those of any date were
    """

    first: str | None
    last: str | None
    unknown: int
    clean: int
    cutoff: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary:
    """Who submitted, and for how many tasks; None where a prediction does not say it.

    cutoff  of the model's training, and who states it; None where no source does
    """

    harness: str | None
    model: str | None
    tasks: int
    cutoff: str | None = None
    cutoff_source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """How the intervals were made."""

    over: str = 'repositories'
    confidence: float = bootstrap.CONFIDENCE
    resamples: int = bootstrap.RESAMPLES
    seed: int = bootstrap.SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`tasks_sha256` is over the test methods: reports compare where it is equal.

    `predictions_sha256` is over the hashes of all predictions, in the order of their tasks.
    `outcomes_sha256` is over the outcome of each test method, and whether it is a strict success:
    equal where two evaluations of the same predictions agree. Both are over all attempts; of the figures
    `attempts` alone is, which is empty where each task was attempted once. All others are of first attempts.
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

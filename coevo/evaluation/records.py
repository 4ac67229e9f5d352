"""The records of predictions and of the results of methods."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.evaluation.outcomes import AttemptProtocol, Detail, Placebo, TaskOutcome
from coevo.evaluation.worth import Adequacy
from coevo.model.column import Column, MethodId, RepoName, SandboxName
from coevo.model.quality import Mutation
from coevo.model.words import BreakageCause, Outcome, Track

Said = Annotated[str, Column("What `detail` leaves open, for a person to read; `''` if nothing.")]
Tampered = Annotated[str | None, Column('The kind of tampering that was seen. Null if none was.')]
EngineVersion = Annotated[
    str, Column('The digest of the code that builds and runs the tests of the language.')
]
TableVersion = Annotated[int, Column('The version of this table.')]
EvaluationCutoff = Annotated[
    str | None,
    Column(
        'Only tasks that were public after this day were scored, such as `2024-06-30`. '
        'Null if tasks of any date were.'
    ),
]
SnapshotDigest = Annotated[str, Column('SHA-256 of the manifest of the snapshot.')]
PredictionDigest = Annotated[str, Column('SHA-256 of the task and the patch, or the whole file.')]

AttemptNumber = Annotated[int, Column('The number of the attempt at the task, from 1.')]

# Columns that the prediction states about itself, and what coevo knows of its model.
ModelName = Annotated[
    str | None, Column('The model, as the prediction names it. Null if it names none.')
]
ModelCutoff = Annotated[
    str | None,
    Column(
        'The training cutoff of that model, a day or a month. Null if no source states '
        'one; nothing is clean then.'
    ),
]
ModelCutoffSource = Annotated[str | None, Column('Who states that cutoff. Null if there is none.')]
Harness = Annotated[
    str | None,
    Column('The agent around the model, as the prediction names it. Null if it names none.'),
]
ExitStatus = Annotated[
    str | None, Column('How the agent ended, as it says. Null if it does not say.')
]
AttemptCost = Annotated[
    float | None,
    Column('What the attempt cost, as the agent says. Null if it does not say.', unit='US dollars'),
]
AttemptTokens = Annotated[
    int | None,
    Column('Tokens of the attempt, as the agent says. Null if it does not say.', unit='tokens'),
]
AttemptSeed = Annotated[
    int | None, Column('What the agent drew by, as it says. Null if it does not say.')
]
AgentSeconds = Annotated[
    float | None,
    Column('Time that the agent took, as it says. Null if it does not say.', unit='seconds'),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A submission for a task: a unified diff against its start state, or a whole test file.

    patch     the diff; None if there is none
    file      the whole test file instead; None if there is none
    attempt   counts from 1
    seed      the random seed that the agent reports
    protocol  whether this attempt knew of earlier attempts at the task, and what
    seconds   the time that the agent reports
    """

    task_id: str
    patch: bytes | None
    file: bytes | None = None
    attempt: int = 1
    seed: int | None = None
    protocol: AttemptProtocol = AttemptProtocol.ONCE
    model: str | None = None
    harness: str | None = None
    exit_status: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of what decides the outcomes: the task and the content of the patch or file."""
        content = b'\0none' if self.patch is None else b'\0patch\0' + self.patch
        if self.file is not None:
            content = b'\0file\0' + self.file
        return hashlib.sha256(self.task_id.encode() + content).hexdigest()


Key = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodResult:
    """One target in one attempt at a task: a row of `results.parquet`, which is sorted by `key`."""

    task_id: Annotated[str, Column('The task that was attempted.')]
    attempt: AttemptNumber = 1
    test_method: Annotated[str, Column('The target, as `Container#method`.')]
    method_id: MethodId
    repo: RepoName
    track: Annotated[Track, Column('What was to be done.')]
    new_date: Annotated[
        datetime | None, Column('Committer date of the new revision. Null if it cannot be read.')
    ]
    cause: Annotated[
        BreakageCause | None,
        Column(
            'Why the test is broken in the cell that decides its label, by the snapshot. '
            'Null if none is.'
        ),
    ]

    outcome: Annotated[TaskOutcome, Column('What became of the target. Exactly one holds.')]
    outcome_by_module: Annotated[
        TaskOutcome,
        Column(
            "The same by the verdict of the project's own tool, for which one broken file"
            ' breaks its module.'
        ),
    ]
    detail: Annotated[Detail | None, Column('Why the outcome is no success. Null for a success.')]
    said: Said = ''
    tampered: Tampered = None

    injected: Annotated[
        bool, Column('Whether the patch was applied and the target stands in its file.')
    ]
    unstable: Annotated[
        str | None, Column('How runs under the same conditions disagreed. Null if they did not.')
    ] = None
    placebo: Annotated[
        Placebo | None,
        Column('With which edits without effect the test was run. Null if with none.'),
    ] = None
    compiled: Annotated[
        bool | None,
        Column('Whether the method compiles on the new code. Null if it was not tried.'),
    ] = None
    module_compiled: Annotated[
        bool | None,
        Column('Whether its whole module compiles on the new code. Null if it was not tried.'),
    ] = None
    new: Annotated[
        Outcome | None, Column('What the test did on the new code. Null if it was not run.')
    ] = None
    new_signature: Annotated[
        str | None, Column('What failed on the new code and where. Null if nothing failed.')
    ] = None
    old: Annotated[
        Outcome | None,
        Column(
            'What a generated test did on the old code. Null for other tracks, or if it '
            'was not run.'
        ),
    ] = None
    old_by_module: Annotated[
        Outcome | None, Column('The same by the verdict for its whole module.')
    ] = None
    old_signature: Annotated[
        str | None, Column('What failed on the old code and where. Null if nothing failed.')
    ] = None
    precondition: Annotated[
        Outcome | None,
        Column(
            'What the test does on the new code at the start, before the patch. Null for '
            'generation, or if it was not run.'
        ),
    ] = None
    reads_sources: Annotated[
        bool | None,
        Column(
            'Whether the gold test fails if the production sources do not lie beside it. '
            'Null if nothing was run.'
        ),
    ] = None
    others_asked: Annotated[
        int | None,
        Column(
            'Other tests of the file that passed at the start or with the patch; at most '
            '200. Null if no target passes.',
            unit='tests',
        ),
    ] = None
    others_lost: Annotated[
        int | None,
        Column(
            'Of these, tests that the patch breaks and the gold file does not. Null if no'
            ' target passes.',
            unit='tests',
        ),
    ] = None
    others_weakened: Annotated[
        int | None,
        Column(
            'Of these, tests that still pass, but miss a mutant that they notice in the gold file, '
            'or notice none and have fewer assertions, since the patch rewrites them or what they '
            'use. Null if that was not measured.',
            unit='tests',
        ),
    ] = None
    copies_code: Annotated[
        bool | None,
        Column(
            'Whether the test file has nearly the body of a changed method, which neither the start '
            'file nor the gold file has. Null if the test does not pass, or if nothing was measured.'
        ),
    ] = None

    adequacy: Annotated[
        Adequacy | None,
        Column(
            'What the submitted test is worth, beside the gold test. Null if it was not measured.'
        ),
    ] = None
    mutation_gold: Annotated[
        Mutation | None,
        Column('The mutants of the gold test, by the snapshot. Null if there are none.'),
    ] = None
    strict_askable: Annotated[
        bool | None,
        Column(
            'Whether gold itself is a strict success, by the snapshot, so that others can be asked '
            'to be one. Null if the snapshot has neither mutants nor undone changes of it.'
        ),
    ] = None
    success_strict: Annotated[
        bool | None,
        Column(
            'Whether it is a success and tells something of the change: it executes a '
            'changed dependency, reaches an assertion, notices a part of the change that '
            'gold notices if it notices any, kills a mutant if gold kills any, does not copy the '
            'code, and breaks or weakens no other test of the file. Null if that is unknown, and '
            'unless `strict_askable`.'
        ),
    ] = None
    vacuous: Annotated[
        bool | None,
        Column(
            'Whether a test that passes on the new code executes no changed dependency and does not '
            'fail by running on the old code, or reaches no assertion. Null if it does not pass, or '
            'if that is unknown.'
        ),
    ] = None
    oracle_preserved: Annotated[
        bool | None,
        Column(
            'Whether an updated test still notices what the old one did. Null for other '
            'tracks, or if unknown.'
        ),
    ] = None

    output: Annotated[str, Column('The end of what the test process wrote on the new code.')] = ''
    tries: Annotated[
        int,
        Column(
            'How often the target was run until no trouble of coevo itself was in the way.',
            unit='times',
        ),
    ] = 1
    cpu_seconds: Annotated[
        float, Column('Processor time of all that was run for the target.', unit='seconds')
    ] = 0.0
    seconds: Annotated[
        float, Column('Elapsed time of all that was run for the target.', unit='seconds')
    ] = 0.0

    engine_version: EngineVersion
    results_version: TableVersion
    sandbox: SandboxName
    runtime: Annotated[
        str | None,
        Column(
            'The version of the runtime (JDK, interpreter) that built and ran everything.'
            ' Null if nothing was run.'
        ),
    ] = None
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which the gold tests of the task may have been public, by '
            'the snapshot. Null if it is unknown, which is never clean.'
        ),
    ] = None
    cutoff: EvaluationCutoff = None
    snapshot_sha256: SnapshotDigest
    prediction_sha256: PredictionDigest

    model: ModelName = None
    model_cutoff: ModelCutoff = None
    model_cutoff_source: ModelCutoffSource = None
    harness: Harness = None
    exit_status: ExitStatus = None
    cost_usd: AttemptCost = None
    tokens: AttemptTokens = None
    agent_seconds: AgentSeconds = None
    seed: AttemptSeed = None
    protocol: Annotated[AttemptProtocol, Column('What an attempt knew of those before it.')] = (
        AttemptProtocol.ONCE
    )

    @property
    def key(self) -> Key:
        """The key by which rows are sorted."""
        return self.task_id, self.attempt, self.test_method, self.method_id

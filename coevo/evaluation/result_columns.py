"""The columns that the results of methods and of suites have in common."""

from __future__ import annotations

from typing import Annotated

from coevo.model.column import Column

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

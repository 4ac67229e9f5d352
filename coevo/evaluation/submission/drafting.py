"""Make the `submission.json` of a folder from its answers and results, and from given values."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import (
    NAME as METHODS,
    load_results,
    load_suites,
    write_or_remove_suites,
    write_results,
)
from coevo.evaluation.submission.folder import (
    NAME,
    RESULTS,
    SUBMISSION_VERSION,
    SubmissionMetadata,
    load_metadata,
    parse_metadata,
)
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import LanguageModel, find_model
from coevo.storage import durable
from coevo.storage.bounded_reading import UnreadableContent, load_file, parse_json

# The file of `coevo run`, whose agents reach the model and nothing else.
_RUN = 'run.json'
# The totals of such a run.
_REPORT, _MOST_BYTES, _MOST_VALUES = 'report.json', 64 << 20, 1_000_000

# What a person has to say, with the question for it.
QUESTIONS = {
    'contact': 'an address for reviewers',
    'url': 'a page (https://) that describes the agent',
    'network': 'whether the agent had access to the web while it worked on a task (yes or no)',
}

# What makes the leaderboard score a model that coevo does not know; it may be left open.
CUTOFF_QUESTIONS = {
    'cutoff': 'the training cutoff of the model, 2025-06-30 or 2025-06 (empty: not known)',
    'cutoff_source': 'a public page (https://) that states this cutoff (empty: none)',
}

Row = TypeVar('Row', MethodResult, SuiteResult)

Ask = Callable[[str], str | None]
"""Function from a field's name to what a person says; None if nobody can be asked."""


def write_submission_metadata(
    folder: Path, given: Mapping[str, object], ask: Ask = lambda name: None
) -> SubmissionMetadata:
    """Write `submission.json` and return its content.

    A training cutoff that the submission states is written into the results, too, which then are
    what `coevo evaluate` makes of this submission.

    given  values of fields of `SubmissionMetadata`; None means that a value is not given. Fields
           without a value come from the results or an earlier file
    ask    asks a person for a field that neither has
    Raises: Fatal if the results are missing or of several agents, or if something is missing or not
    valid.
    """
    fields = {
        'submission_version': SUBMISSION_VERSION,
        'attempts': 1,
        **({'network': False} if (folder / _RUN).is_file() else {}),
        **_load_earlier_metadata(folder),
        **_derive_fields_from_results(folder),
        **{name: value for name, value in given.items() if value is not None},
    }
    fields = _complete_cutoff(fields, given, folder, ask)
    answers = {name: ask(name) for name in QUESTIONS if name not in fields}
    missing = [name for name, answer in answers.items() if not (answer or '').strip()]
    if missing:
        raise Fatal(
            f'{folder / NAME} was not written; it still needs '
            f'{" and ".join(QUESTIONS[name] for name in missing)} '
            f'({", ".join(f"--{name}" for name in missing)})'
        )
    fields |= {name: _parse_answer(name, str(answer).strip()) for name, answer in answers.items()}
    metadata = parse_metadata(fields, folder / NAME)
    _write_stated_cutoff(folder / RESULTS, metadata)
    content = {
        name: value for name, value in dataclasses.asdict(metadata).items() if value is not None
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    durable.write_durably(folder / NAME, [text.encode(), b'\n'])
    return metadata


def _complete_cutoff(
    fields: Mapping[str, object], given: Mapping[str, object], folder: Path, ask: Ask
) -> dict[str, object]:
    """Return the fields with the cutoff of a model that coevo does not know, and its source.

    What was not given comes from the run, else from a person. Neither is there if one stays
    unknown, since a cutoff counts only with a source, unless it was given alone.
    """
    known = find_model(str(fields.get('model') or ''))
    if known is not None and known.cutoff is not None:
        return dict(fields)
    complete = {**load_run_cutoff(folder), **fields}
    for name in CUTOFF_QUESTIONS:
        if name not in complete and (name == 'cutoff' or 'cutoff' in complete):
            answer = (ask(name) or '').strip()
            complete |= {name: answer} if answer else {}
    if not CUTOFF_QUESTIONS.keys() <= complete.keys():
        for name in CUTOFF_QUESTIONS:
            if given.get(name) is None:
                complete.pop(name, None)
    return complete


def load_run_cutoff(folder: Path) -> Mapping[str, object]:
    """Return the cutoff after which the tasks of a run became public, as `cutoff`; else nothing."""
    try:
        report = parse_json(load_file(folder / _REPORT, most=_MOST_BYTES), most_values=_MOST_VALUES)
    except (OSError, UnreadableContent):
        return {}
    cutoff = report.get('only_after') if isinstance(report, dict) else None
    return {'cutoff': cutoff} if isinstance(cutoff, str) else {}


def describe_missing_cutoff(folder: Path, metadata: SubmissionMetadata) -> str | None:
    """Return a sentence on what a submission lacks to be scored; None if its cutoff is known."""
    known = find_model(metadata.model)
    if metadata.cutoff is not None or (known and known.cutoff):
        return None
    date = load_run_cutoff(folder).get('cutoff')
    return (
        f'no source states a training cutoff of {metadata.model}: the leaderboard does not score it; '
        f'`coevo submit --new {folder} --cutoff {date or "DATE"} --cutoff-source URL` adds one'
    )


def check_metadata_values(folder: Path, given: Mapping[str, object]) -> None:
    """Check the values for `write_submission_metadata`, so that a wrong one costs no evaluation.

    Fields without a value are not checked, since the results will have them or a person is asked.
    Raises: Fatal for an earlier file that is damaged, or a value that is not valid.
    """
    fields = {
        'submission_version': SUBMISSION_VERSION,
        'harness': 'unknown yet',
        'model': 'unknown yet',
        'snapshot_sha256': '0' * 64,
        'attempts': 1,
        'network': False,
        'contact': 'unknown yet',
        'url': 'https://example.org',
        **_load_earlier_metadata(folder),
        **{name: value for name, value in given.items() if value is not None},
    }
    parse_metadata(fields, folder / NAME)


def _load_earlier_metadata(folder: Path) -> Mapping[str, object]:
    """Return the fields of an earlier file, so that only changed ones have to be given again.

    Empty if there is no such file.
    """
    if not (folder / NAME).exists():
        return {}
    earlier = dataclasses.asdict(load_metadata(folder))
    return {name: value for name, value in earlier.items() if value is not None}


def _derive_fields_from_results(folder: Path) -> Mapping[str, object]:
    results = folder / RESULTS
    if not (results / METHODS).is_file():
        answers = folder / 'predictions.jsonl'
        if answers.is_file() and not answers.stat().st_size:
            raise Fatal(
                f'{folder} has no answers yet: run its `coevo run` again, once the endpoint answers'
            )
        raise Fatal(
            f'{folder} has no {RESULTS}; grade its answers first: `coevo evaluate SNAPSHOT '
            f'{answers} --out {results}`'
        )
    rows: list[MethodResult | SuiteResult] = [*load_results(results), *load_suites(results)]
    answered = [row for row in rows if row.harness is not None or row.model is not None]
    names = {(row.harness, row.model, row.snapshot_sha256) for row in answered}
    if len(names) != 1:
        raise Fatal(
            f'{results} is of {len(names)} agents or models; a submission must be about one, '
            'named in each prediction by `harness` and `model`'
        )
    ((harness, model, snapshot_sha256),) = names
    return {
        'harness': harness,
        'model': model,
        'snapshot_sha256': snapshot_sha256,
        **_derive_cutoff(answered),
    }


def _derive_cutoff(answered: Sequence[MethodResult | SuiteResult]) -> Mapping[str, object]:
    """Return the cutoff by which a run graded, with its source, if that is a public page."""
    stated = {(row.model_cutoff, row.model_cutoff_source) for row in answered}
    if len(stated) != 1:
        return {}
    ((cutoff, source),) = stated
    if cutoff is None or source is None or not source.startswith('https://'):
        return {}
    return {'cutoff': cutoff, 'cutoff_source': source}


def _write_stated_cutoff(results: Path, metadata: SubmissionMetadata) -> None:
    """Write the cutoff of a model that coevo does not know into the rows of its answers."""
    for model in metadata.extra_models:
        stored, stored_suites = load_results(results), load_suites(results)
        rows = tuple(_set_cutoff(row, model) for row in stored)
        suites = tuple(_set_cutoff(row, model) for row in stored_suites)
        if (rows, suites) != (stored, stored_suites):
            write_results(results, rows)
            write_or_remove_suites(results, suites)
            write_report(results, rows, suites)


def _set_cutoff(row: Row, model: LanguageModel) -> Row:
    if row.model not in model.names:
        return row
    return dataclasses.replace(row, model_cutoff=model.cutoff, model_cutoff_source=model.source)


def _parse_answer(name: str, answer: str) -> object:
    if name != 'network':
        return answer
    if answer.lower() not in ('yes', 'no'):
        raise Fatal(f'--network must be yes or no, not {answer!r}')
    return answer.lower() == 'yes'

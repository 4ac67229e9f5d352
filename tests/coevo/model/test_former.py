"""What stores of before schema 2 hold is read under the names of now."""

from __future__ import annotations

import json

import pytest

from coevo.model import former
from coevo.model.codec import decode_record
from coevo.model.codec import encode_record
from coevo.model.drops import Drop
from coevo.model.words import Stage
from flows.validations import InvalidReason
from flows.validations import Validation
from tests import segments

_THEN = {now: then for then, now in former.FIELDS.items()}


def test_no_name_of_now_stands_for_one_of_then() -> None:
    """Or a rename of the whole source would take this table along, and everything else with it."""
    tables = (former.FIELDS, *former.VALUES.values())
    assert [then for table in tables for then, now in table.items() if then == now] == []


def of_then(data: bytes) -> bytes:
    return json.dumps(json.loads(data, object_hook=_of_then)).encode()


def _of_then(values: dict[str, object]) -> dict[str, object]:
    return {_THEN.get(name, name): value for name, value in values.items()}


@pytest.mark.parametrize('record', [segments.segment(1), segments.walk(1, 2)])
def test_what_was_kept_is_read_under_the_names_of_now(record: object) -> None:
    data = encode_record(record)
    assert of_then(data) != data
    assert decode_record(type(record), of_then(data)) == record


@pytest.mark.parametrize(
    ('then', 'now'),
    [
        ('no_java_change', 'no_code_change'),
        ('same_java_state', 'same_code_state'),
        ('pom_changed', 'build_changed'),
        ('flaky', 'flaky'),
    ],
)
def test_reasons_of_then_are_those_of_now(then: str, now: str) -> None:
    drop = segments.drop(1, Stage.WALK, 'f' * 40, then)
    assert decode_record(Drop, encode_record(drop)).reason == now


def test_a_validation_of_then_is_one_of_now() -> None:
    then = {
        'java': 8,
        'jdk': '17',
        'jdks_tried': ['17'],
        'reason': 'java_too_old',
        'detail': 'no_pom',
    }
    same = dict.fromkeys(('repo', 'rev', 'ref', 'sandbox'), 'x')
    found = decode_record(
        Validation, json.dumps({**same, 'committed': None, 'engine_version': 1, **then}).encode()
    )
    assert (found.level, found.runtime, found.runtimes_tried) == (8, '17', ('17',))
    assert (found.reason, found.detail) == (InvalidReason.LEVEL_TOO_OLD, 'no_build_file')

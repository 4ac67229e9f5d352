from __future__ import annotations

import pyarrow as pa

from coevo.model import schema_2
from coevo.model.method_rows import MethodRow
from coevo.model.reasons import BY_STAGE
from coevo.model.records import Drop
from coevo.model.schema import TABLES, build_arrow_schema
from coevo.model.words import Cell, Walk


def test_renamed_columns_and_tables_exist() -> None:
    assert schema_2.TABLES.keys() <= TABLES.keys()
    for table, names in schema_2.COLUMNS.items():
        assert names.keys() <= set(build_arrow_schema(TABLES[table]).names)
    for table, column in schema_2.FIELDS:
        assert column in build_arrow_schema(TABLES[table]).names


def test_renamed_values_exist() -> None:
    reasons = {reason for stage in BY_STAGE.values() for reason in stage}
    assert schema_2.VALUES['reason'].keys() <= reasons
    assert schema_2.VALUES['stage'].keys() <= {str(stage) for stage in BY_STAGE}
    assert schema_2.VALUES['walk'].keys() <= {str(walk) for walk in Walk}
    assert schema_2.VALUES['cell'].keys() == set(Cell)


def test_old_names_are_given_back_to_nested_fields_as_well() -> None:
    fields = schema_2.rename_back('methods', list(build_arrow_schema(MethodRow)))
    names = pa.schema(fields).names
    assert 'told_cnew_signature' in names
    assert 't_old_c_new_signature' not in names
    isolated = pa.schema(fields).field('isolated').type
    assert [field.name for field in isolated][:3] == ['told_cnew', 'tnew_cold', 'tnew_cnew']


def test_tables_without_renamed_columns_stay_as_they_are() -> None:
    fields = list(build_arrow_schema(Drop))
    assert schema_2.rename_back('drops', fields) == fields


def test_queries_with_old_names_are_told_the_new_ones() -> None:
    sql = 'SELECT told_cold, label FROM standing'
    assert schema_2.map_old_names_in_text(sql) == {
        'told_cold': 't_old_c_old',
        'standing': 'single_revision',
    }
    assert schema_2.map_old_names_in_text('SELECT label FROM methods') == {}

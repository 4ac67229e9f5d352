"""Names of before schema 2, when Java was all there was: a store of then is read as it is.

A snapshot or results of then are not: they are made again from the store, or by another evaluation.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

FIELDS: Mapping[str, str] = {
    'java_files': 'source_files',
    'java_lines': 'source_lines',
    'pom_changed': 'build_changed',
    'jdk': 'runtime',
    'jdks_tried': 'runtimes_tried',
    'equal_byte_code': 'equal_compiled',
    'class_path': 'libraries',
    'java': 'level',
}
"""What a field of a record was called."""

_NO_BUILD_FILE = {'no_pom': 'no_build_file'}

VALUES: Mapping[str, Mapping[str, str]] = {
    'reason': {
        'no_java_change': 'no_code_change',
        'same_java_state': 'same_code_state',
        'pom_changed': 'build_changed',
        'java_too_old': 'level_too_old',
        'no_top_level_pom': 'no_build_file',
        **_NO_BUILD_FILE,
    },
    'root': {'pom': 'build_file', **_NO_BUILD_FILE},
    'build_old': _NO_BUILD_FILE,
    'build_new': _NO_BUILD_FILE,
    'detail': _NO_BUILD_FILE,
}
"""What a value of a field was, by the name that the field has now."""


def apply_current_names(values: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """The values of a record of these fields, under the names of now."""
    current = {
        name if name in fields else FIELDS.get(name, name): value for name, value in values.items()
    }
    return {
        name: VALUES[name].get(value, value) if name in VALUES and isinstance(value, str) else value
        for name, value in current.items()
    }

"""The data dictionary: the contents of every column, and the columns that hold third-party text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from coevo.model.column import Choice, Column, split_optional

# The data dictionary: the contents of every column, from the `Column` of its field.

_PLAIN = {str: 'text', int: 'integer', float: 'number', bool: 'yes or no', datetime: 'time (UTC)'}


@dataclass(frozen=True, slots=True, kw_only=True)
class DictionaryEntry:
    """A column, or a field of a nested one, such as `mutation.killed`.

    kind    its type in words
    values  the members of a choice, each with its explaining clause
    """

    path: str
    kind: str
    nullable: bool
    sentence: str
    unit: str | None
    values: tuple[Choice, ...]

    @property
    def text(self) -> str:
        """The description, unit and values in one paragraph."""
        unit = f' Unit: {self.unit}.' if self.unit else ''
        values = '; '.join(f'`{choice.value}`: {choice.clause}' for choice in self.values)
        return f'{self.sentence}{unit}{f" Values: {values}." if values else ""}'


@cache
def list_entries(record: type) -> tuple[DictionaryEntry, ...]:
    """Return the columns of a record type, each followed by its nested fields.

    Raises: TypeError if a field has no `Column`.
    """
    return tuple(_list_nested_entries(record, ''))


@cache
def map_columns_by_path(record: type) -> dict[str, DictionaryEntry]:
    """Return the entries of `list_entries` by path."""
    return {entry.path: entry for entry in list_entries(record)}


def split_annotation(hint: Any) -> tuple[Any, Column | None]:
    """Return the plain type of an annotation, and its `Column` if it has one."""
    if get_origin(hint) is not Annotated:
        return hint, None
    plain, *notes = get_args(hint)
    return plain, next((note for note in notes if isinstance(note, Column)), None)


def _list_nested_entries(record: type, prefix: str) -> Iterator[DictionaryEntry]:
    hints = get_type_hints(record, include_extras=True)
    for item in dataclasses.fields(record):
        hint, column = split_annotation(hints[item.name])
        if column is None:
            raise TypeError(f'{record.__name__}.{item.name} has no Column')
        inner, nullable = split_optional(hint)
        element = get_args(inner)[0] if get_origin(inner) is tuple else inner
        path = f'{prefix}{item.name}'
        yield DictionaryEntry(
            path=path,
            kind=_describe_kind(inner, element),
            nullable=nullable,
            sentence=column.sentence,
            unit=column.unit,
            values=_list_choices(element),
        )
        if dataclasses.is_dataclass(element):
            yield from _list_nested_entries(element, f'{path}.')  # type: ignore[arg-type]  # a type


def _describe_kind(hint: Any, element: Any) -> str:
    if dataclasses.is_dataclass(element):
        kind = 'group'
    elif issubclass(element, StrEnum):
        kind = 'choice'
    else:
        kind = _PLAIN[element]
    return kind if hint is element else f'list of {kind}'


def _list_choices(element: Any) -> tuple[Choice, ...]:
    return tuple(element) if isinstance(element, type) and issubclass(element, Choice) else ()


# The columns that hold third-party text: code, and text that shows code.
#
# A code-free edition omits this text. Every text column of a snapshot is listed by name in exactly
# one of two lists. A snapshot with an unlisted text column is not written.

OF_OTHERS = frozenset(
    (
        *('old_source', 'new_source', 'focal_source'),
        *('test_patch', 'source_patch', 'sibling_patch', 'start_patch'),
        *('original', 'mutated', 'prompt', 'start_files'),
    )
)
"""Names of columns with text of the repositories, or text derived from it."""

NAMES_AND_FACTS = frozenset(
    (
        # Hashes and other identifiers of rows.
        *('also_at', 'duplicate_of', 'id', 'key', 'method_id', 'method_ids', 'mutant_id'),
        *('near_duplicate_of', 'pair_id', 'sha256', 'suite_id', 'start_file_sha256', 'task_id'),
        *('head', 'month', 'new_rev', 'old_rev', 'ref', 'released', 'repo', 'family', 'start_rev'),
        *('table', 'unit', 'url'),
        # Locations and names, including the heads of declarations.
        *(
            'absent_files',
            'declaration',
            'descriptor',
            'file',
            'focal_method',
            'left_file',
            'method',
            'module',
            'reached',
        ),
        *('name', 'new_method', 'old_method', 'old_module', 'old_test_class', 'old_test_file'),
        *('old_test_method', 'parameters', 'right_file', 'sibling', 'test_class', 'test_file'),
        *('test_method', 'test_methods', 'type'),
        # What failed and where: exception types and frame names, compiler codes and symbols.
        *('signature', 't_new_c_new_signature', 't_new_c_old_signature'),
        *('t_old_c_new_signature', 't_old_c_old_signature'),
        # Tools, libraries, licences, and how they were called.
        *('build_new', 'build_old', 'build_tool', 'builder_new', 'builder_old', 'compile_command'),
        *(
            'coordinates',
            'engine_version',
            'language',
            'later_license',
            'license',
            'order',
            'override',
            'profile',
        ),
        'prompt_version',
        *(
            'runtime',
            'runtime_missing',
            'runtimes_tried',
            'sandbox',
            'step',
            'test_command',
            'umpire_new',
            'umpire_old',
        ),
        'tools',
        # Terms of coevo, or of a tool that names its findings.
        *(
            'changed_kinds',
            'contamination_basis',
            'dependency_source',
            'description',
            'detail',
            'kinds',
            'reason',
        ),
        *('refactorings', 'repair_kind', 'smells_new', 'smells_old', 'start', 'suite_new'),
        *('suite_old', 'umpire_new', 'umpire_old', 'why'),
    )
)
"""Names of columns with names, locations, versions, codes and sentences written by coevo."""


TEXTS_WITHHELD = 'texts_withheld'
"""The column of every table with such text that says whether a row lacks it."""

KEPT_WITHOUT_GOLD = {'tasks': ('focal_source', 'prompt', 'source_patch', 'start_files')}
"""The columns with such text that an edition without the developers' answers has, by table."""


def list_third_party_columns(tables: Mapping[str, type]) -> tuple[str, ...]:
    """Return all columns with third-party text by table, such as
    `single_revision.mutants.original`, sorted.
    """
    return tuple(
        sorted(
            f'{name}.{path}'
            for name, record in tables.items()
            for path in find_third_party_paths(record)
        )
    )


@cache
def find_third_party_paths(record: type) -> frozenset[str]:
    """Return the columns of a table that hold third-party text, such as `mutants.original` for a
    nested one.

    Raises: TypeError if a text column is in neither list or in both.
    """
    texts = {
        path: path.rpartition('.')[2]
        for path, entry in map_columns_by_path(record).items()
        if entry.kind in ('text', 'list of text')
    }
    for path, name in texts.items():
        if (name in OF_OTHERS) == (name in NAMES_AND_FACTS):
            raise TypeError(
                f'{record.__name__}.{path}: coevo.model.dictionary does not say whose it is'
            )
    return frozenset(path for path, name in texts.items() if name in OF_OTHERS)

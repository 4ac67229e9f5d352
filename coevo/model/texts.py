"""The columns that hold third-party text: code, and text that shows code.

A code-free edition omits this text. Every text column of a snapshot is listed by name in exactly
one of two lists. A snapshot with an unlisted text column is not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from coevo.model.dictionary import map_columns_by_path

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
            raise TypeError(f'{record.__name__}.{path}: coevo.model.texts does not say whose it is')
    return frozenset(path for path, name in texts.items() if name in OF_OTHERS)

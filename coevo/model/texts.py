"""Which columns hold text of others: code, and what shows it. A code-free edition has none of that.

Every text column of a snapshot stands in one of two lists, by its name; of one that stands in none nobody
knows, and no snapshot is written with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from coevo.model.dictionary import columns_by_path

OF_OTHERS = frozenset(
    (
        *('old_source', 'new_source', 'focal_source'),
        *('test_patch', 'source_patch', 'sibling_patch', 'start_patch'),
        *('original', 'mutated', 'prompt'),
    )
)
"""Text of the repositories, or made of it."""

NAMES_AND_FACTS = frozenset(
    (
        # Hashes, and what else a row is called by.
        *('also_at', 'duplicate_of', 'id', 'key', 'method_id', 'method_ids', 'mutant_id'),
        *('near_duplicate_of', 'pair_id', 'sha256', 'suite_id', 'start_file_sha256', 'task_id'),
        *('head', 'month', 'new_rev', 'old_rev', 'ref', 'released', 'repo', 'family', 'start_rev'),
        *('table', 'unit', 'url'),
        # Where something stands, and what that is called: heads of declarations, too.
        *('declaration', 'descriptor', 'file', 'focal_method', 'left_file', 'method', 'module'),
        *('name', 'new_method', 'old_method', 'old_module', 'old_test_class', 'old_test_file'),
        *('old_test_method', 'parameters', 'right_file', 'sibling', 'test_class', 'test_file'),
        *('test_method', 'test_methods', 'type'),
        # What failed and where: an exception's type and a frame's name, a compiler's code and symbol.
        *('signature', 't_new_c_new_signature', 't_new_c_old_signature'),
        *('t_old_c_new_signature', 't_old_c_old_signature'),
        # Tools, libraries, licences, and how they were asked.
        *('build_new', 'build_old', 'build_tool', 'builder_new', 'builder_old', 'compile_command'),
        *('coordinates', 'engine_version', 'language', 'license', 'order', 'override', 'profile'),
        'prompt_version',
        *('runtime', 'runtime_missing', 'runtimes_tried', 'sandbox', 'step', 'test_command'),
        'tools',
        # Words of coevo, or of a tool that names what it found.
        *('contamination_basis', 'dependency_source', 'description', 'detail', 'kinds', 'reason'),
        *('refactorings', 'repair_kind', 'smells_new', 'smells_old', 'start', 'suite_new'),
        *('suite_old', 'why'),
    )
)
"""Names, places, versions, codes and sentences of ours."""


def list_third_party_columns(tables: Mapping[str, type]) -> tuple[str, ...]:
    """All of them by table and column, such as `single_revision.mutants.original`, sorted."""
    return tuple(
        sorted(
            f'{name}.{path}'
            for name, record in tables.items()
            for path in find_third_party_paths(record)
        )
    )


@cache
def find_third_party_paths(record: type) -> frozenset[str]:
    """The columns of a table that hold text of others, such as `mutants.original` of a nested one.

    TypeError if a text column stands in neither list.
    """
    texts = {
        path: path.rpartition('.')[2]
        for path, entry in columns_by_path(record).items()
        if entry.kind in ('text', 'list of text')
    }
    for path, name in texts.items():
        if (name in OF_OTHERS) == (name in NAMES_AND_FACTS):
            raise TypeError(f'{record.__name__}.{path}: coevo.model.texts does not say whose it is')
    return frozenset(path for path, name in texts.items() if name in OF_OTHERS)

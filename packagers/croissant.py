"""Describe a snapshot in Croissant 1.0 (https://docs.mlcommons.org/croissant/)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import orjson
import pyarrow as pa

from coevo.model.schema import CONTENTS, TABLES, build_arrow_schema
from coevo.model.words import Track
from packagers.manifests import UNCHECKED, Checksums

CONTEXT = {
    '@language': 'en',
    '@vocab': 'https://schema.org/',
    'citeAs': 'cr:citeAs',
    'column': 'cr:column',
    'conformsTo': 'dct:conformsTo',
    'cr': 'http://mlcommons.org/croissant/',
    'data': {'@id': 'cr:data', '@type': '@json'},
    'dataType': {'@id': 'cr:dataType', '@type': '@vocab'},
    'dct': 'http://purl.org/dc/terms/',
    'equivalentProperty': 'cr:equivalentProperty',
    'examples': {'@id': 'cr:examples', '@type': '@json'},
    'extract': 'cr:extract',
    'field': 'cr:field',
    'fileObject': 'cr:fileObject',
    'fileProperty': 'cr:fileProperty',
    'fileSet': 'cr:fileSet',
    'format': 'cr:format',
    'includes': 'cr:includes',
    'isLiveDataset': 'cr:isLiveDataset',
    'jsonPath': 'cr:jsonPath',
    'key': 'cr:key',
    'md5': 'cr:md5',
    'parentField': 'cr:parentField',
    'path': 'cr:path',
    'rai': 'http://mlcommons.org/croissant/RAI/',
    'recordSet': 'cr:recordSet',
    'references': 'cr:references',
    'regex': 'cr:regex',
    'repeated': 'cr:repeated',
    'replace': 'cr:replace',
    'samplingRate': 'cr:samplingRate',
    'sc': 'https://schema.org/',
    'separator': 'cr:separator',
    'source': 'cr:source',
    'subField': 'cr:subField',
    'transform': 'cr:transform',
}


_DESCRIPTION = (
    'Test methods and the code changes that they had to follow, with what running the tests at both '
    'revisions gave.'
)
_WITHOUT_CODE = (
    ' A code-free edition: columns with text of the repositories are null; `coevo get` fills '
    'them from public clones.'
)

# The licence of labels, cells, dates and measurements; code keeps the licence of its repository.
_OF_OURS = 'https://creativecommons.org/licenses/by/4.0/'


_TASK_FILES = 'files-of-tasks'

_CITATION = (
    '@misc{{coevo, author = {{the authors of coevo}}, title = {{coevo: executable test-maintenance tasks}}, '
    'note = {{snapshot {}, cited with the SHA-256 of its manifest.json}}}}'
)


def render_croissant(
    month: str, files: Checksums, licences: Iterable[str] = (), *, code_free: bool = False
) -> str:
    """Return the description as JSON-LD, including nested columns.

    licences   SPDX expressions of the code in it; coevo's own data always has CC BY 4.0
    code_free  whether it describes an edition without that code
    """
    names = [name for name in TABLES if name != UNCHECKED]
    paths = [(name, path) for name in names for path in files if path.startswith(f'data/{name}/')]
    content = {
        '@context': CONTEXT,
        '@type': 'sc:Dataset',
        'conformsTo': 'http://mlcommons.org/croissant/1.0',
        'name': f'coevo-{month}{"-code-free" if code_free else ""}',
        'description': f'{_DESCRIPTION}{_WITHOUT_CODE if code_free else ""}',
        'license': [_OF_OURS, *sorted(set(licences))],
        'url': 'README.md',
        'version': f'{month.replace("-0", "-").replace("-", ".")}.0',
        'datePublished': f'{month}-01',
        'citeAs': _CITATION.format(month),
        'distribution': [
            *(_describe_file(path, files) for _, path in paths),
            _describe_task_files(),
        ],
        'recordSet': [
            _describe_records('tasks', 'tasks', {'fileSet': {'@id': _TASK_FILES}}),
            *(
                _describe_records(table, _name_records(table, path), {'fileObject': {'@id': path}})
                for table, path in paths
            ),
        ],
    }
    # The standard library indents in pure Python, which takes a quarter of the time of a small
    # release.
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(content, option=options).decode()


def _describe_file(path: str, files: Checksums) -> dict[str, Any]:
    return {
        '@type': 'cr:FileObject',
        '@id': path,
        'name': path,
        'contentUrl': path,
        'contentSize': f'{files[path]["size"]} B',
        'encodingFormat': 'application/x-parquet',
        'sha256': files[path]['sha256'],
    }


def _describe_task_files() -> dict[str, Any]:
    """Describe the files of all tasks together."""
    return {
        '@type': 'cr:FileSet',
        '@id': _TASK_FILES,
        'name': _TASK_FILES,
        'encodingFormat': 'application/x-parquet',
        'includes': 'data/tasks/*.parquet',
    }


def _name_records(table: str, path: str) -> str:
    """Return the name of the records of a file: the table, or a track or family of tasks.

    The paper calls the tracks test_generation and so on.
    """
    part = PurePath(path).stem
    if table != 'tasks':
        return table
    return f'test_{part}' if part in list(Track) else f'family_{part}'


def _describe_records(table: str, name: str, origin: dict[str, Any]) -> dict[str, Any]:
    """Describe the rows of a table that a file or set of files has."""
    return {
        '@type': 'cr:RecordSet',
        '@id': name,
        'name': name,
        'description': CONTENTS[table],
        'field': [
            _describe_field(name, origin, column) for column in build_arrow_schema(TABLES[table])
        ],
    }


def _describe_field(
    parent: str, origin: dict[str, Any], column: pa.Field, within: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Describe a column, or a field of a nested column, which is extracted from its column."""
    kind, repeated = column.type, pa.types.is_list(column.type)
    if repeated:
        kind = kind.value_type
    id_, names = f'{parent}/{column.name}', (*within, column.name)
    nested = pa.types.is_struct(kind)
    parts = [kind.field(number) for number in range(kind.num_fields)] if nested else []
    own: dict[str, Any] = (
        {'subField': [_describe_field(id_, origin, part, names) for part in parts]}
        if nested
        else {'dataType': _name_data_type(kind)}
    )
    about = {
        '@type': 'cr:Field',
        '@id': id_,
        'name': column.name,
        'description': column.metadata[b'description'].decode(),
        **own,
        'source': _describe_source(origin, names),
    }
    return about | ({'repeated': True} if repeated else {})


def _describe_source(origin: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return where a field is read: its column, and a JSON path for each level below."""
    top, *inner = names
    steps = {'transform': [{'jsonPath': name} for name in inner]} if inner else {}
    return {**origin, 'extract': {'column': top}, **steps}


def _name_data_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return 'sc:DateTime'
    if pa.types.is_boolean(kind):
        return 'sc:Boolean'
    if pa.types.is_integer(kind):
        return 'sc:Integer'
    if pa.types.is_floating(kind):
        return 'sc:Float'
    return 'sc:Text'

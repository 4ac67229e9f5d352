"""Detect test smells of files, databases and the network.

Definitions: testsmells.org and the source of tsDetect 2.2, with its type names; thresholds are
zero. tsDetect matches simple names only; here an import of that name from another package rules it
out. A variable declared with `var` has the type that its initializer creates.
"""

from __future__ import annotations

from tree_sitter import Node

from coevo.languages.java.reading.calls import (
    JavaVariable,
    find_calls,
    find_created_type_name,
    get_text,
    iterate_nodes,
    list_children_without_comments,
)
from coevo.languages.java.reading.source import JavaTest

# The types of tsDetect by package, and the related types of its FileOutputStream in java.io.
_PACKAGES = {
    'File': ('java.io',),
    'FileInputStream': ('java.io',),
    'FileOutputStream': ('java.io',),
    'FileReader': ('java.io',),
    'FileWriter': ('java.io',),
    'RandomAccessFile': ('java.io',),
    'SQLiteOpenHelper': ('android.database.sqlite',),
    'SQLiteDatabase': ('android.database.sqlite',),
    'Cursor': ('android.database',),
    'Context': ('android.content',),
    'HttpClient': ('org.apache.http', 'org.apache.hc', 'java.net.http'),
    'HttpResponse': ('org.apache.http', 'org.apache.hc', 'java.net.http'),
    'HttpPost': ('org.apache.http', 'org.apache.hc'),
    'HttpGet': ('org.apache.http', 'org.apache.hc'),
    'SoapObject': ('org.ksoap2',),
}
_CALLS = frozenset(
    {
        'getWritableDatabase',
        'getReadableDatabase',
        'execSQL',
        'rawQuery',
        'getFilesDir',
        'getDir',
        'getCacheDir',
        'createTempFile',
        'getExternalStorageState',
        'getExternalStoragePublicDirectory',
        'getExternalFilesDir',
        'getExternalCacheDir',
        'getFreeSpace',
        'getTotalSpace',
        'deleteFile',
        'fileList',
        'openFileOutput',
        'openRawResource',
    }
)
_MOCKING = frozenset({'mock', 'spy'})
_MOCKED = ('Mock', 'Spy')
_CHECKS = frozenset({'exists', 'isFile', 'notExists'})


def is_mystery_guest(test: JavaTest) -> bool:
    """Return whether a test uses files, databases, HTTP or Android's resources.

    A local variable of such a type counts unless it is a mock, and so does a call that is typical
    of such resources.
    """
    if any(call.name in _CALLS for call in find_calls(test.body)):
        return True
    return any(
        variable.declaration.type == 'local_variable_declaration'
        and _is_resource_type(test, variable.type)
        and not _is_mock(variable)
        for variable in test.locals
    )


def is_resource_optimism(test: JavaTest) -> bool:
    """Return whether a test declares or creates a File without checking that it exists.

    A call of `exists`, `isFile` or `notExists` is such a check. tsDetect also reports `new
    File(x).exists()`.
    """
    if not _is_resource_type(test, 'File'):
        return False
    checked = [c.receiver for c in find_calls(test.body) if c.name in _CHECKS and c.receiver]
    known = {get_text(receiver) for receiver in checked}
    for variable in test.locals:
        local = variable.declaration.type == 'local_variable_declaration'
        if local and variable.type == 'File' and variable.name not in known:
            return True
    created_files = (
        n
        for n in iterate_nodes(test.body, into_local_classes=False)
        if find_created_type_name(n) == 'File'
    )
    return any(not _is_variable_initializer(node) and node not in checked for node in created_files)


def _is_variable_initializer(node: Node) -> bool:
    return node.parent is not None and node.parent.type == 'variable_declarator'


def _is_resource_type(test: JavaTest, simple: str) -> bool:
    """Return whether a simple name in a test's file means a resource type of _PACKAGES.

    An import or a fully qualified use in the test has to show it.
    """
    packages = _PACKAGES.get(simple)
    if packages is None:
        return False
    imports = [item for item in test.file.file.imports if not item.static]
    exact = [item.text for item in imports if item.name == simple]
    if exact:
        return exact[0].startswith(packages)
    return any(item.name == '*' and item.text.startswith(packages) for item in imports) or any(
        written in get_text(test.node)
        for written in (f'{package}.{simple}' for package in packages)
    )


def _is_mock(variable: JavaVariable) -> bool:
    modifiers = [n for n in variable.declaration.children if n.type == 'modifiers']
    marks = [
        list_children_without_comments(annotation)[0]
        for holder in modifiers
        for annotation in list_children_without_comments(holder)
    ]
    if any(get_text(mark) in _MOCKED for mark in marks):
        return True
    if variable.value is None or variable.value.type != 'method_invocation':
        return False
    name = variable.value.child_by_field_name('name')
    return name is not None and get_text(name) in _MOCKING

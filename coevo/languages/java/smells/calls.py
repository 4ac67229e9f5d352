"""Detect test smells of what tests call: their class under test, files, databases and the network."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.source import (
    JavaCall,
    JavaTest,
    JavaVariable,
    find_calls,
    find_created_type_name,
    get_text,
    iterate_nodes,
    list_children_without_comments,
)

# Detect test smells of the calls that tests make to their class under test.
#
# Definitions: testsmells.org and the source of tsDetect 2.2. A call is one to the class under test
# if its receiver is that class or a variable of it, or if its name and number of arguments match
# one of that class's public or protected methods. tsDetect requires no more. Here such a call is
# excluded if its receiver is another class or a variable of a JDK type, or if it has no receiver
# and is not statically imported.

_JAVA_LANG = frozenset(
    {
        *('boolean', 'byte', 'char', 'double', 'float', 'int', 'long', 'short'),
        *('Boolean', 'Byte', 'Character', 'Double', 'Float', 'Integer', 'Long', 'Short', 'Number'),
        *('String', 'StringBuilder', 'StringBuffer', 'Class', 'Thread', 'Throwable', 'Exception'),
    }
)
_VISIBLE = frozenset({'public', 'protected'})

Signature = tuple[str, int]
"""Name and number of arguments."""


def is_eager_test(test: JavaTest, production: DeclaredType) -> bool:
    """Return whether a test calls two or more methods of the class under test.

    tsDetect (threshold 1) counts every call, even repeated calls of one method; its documentation
    requires several methods.
    """
    return len(_collect_called_signatures(test, production)) > 1


def is_lazy_test(test: JavaTest, production: DeclaredType) -> bool:
    """Return whether a test calls a method under test that another test of the file calls too."""
    own = _collect_called_signatures(test, production)
    return bool(own) and any(
        not own.isdisjoint(_collect_called_signatures(other, production))
        for other in test.file.tests
        if other.member.start_byte != test.member.start_byte
    )


def _collect_called_signatures(test: JavaTest, production: DeclaredType) -> set[Signature]:
    return set(_find_called_signatures(test, production))


def _find_called_signatures(test: JavaTest, production: DeclaredType) -> Iterator[Signature]:
    known = set(_list_signatures(production))
    for call in find_calls(test.body):
        signature = (call.name, len(call.arguments))
        of_class = _is_call_of(test, call, production)
        if of_class or (of_class is None and signature in known):
            yield signature


def _list_signatures(production: DeclaredType) -> Iterator[Signature]:
    for member in production.members:
        visible = production.kind == 'interface' or not _VISIBLE.isdisjoint(member.modifiers)
        if member.kind == 'method' and visible:
            yield member.name, len(member.parameters)


def _is_call_of(test: JavaTest, call: JavaCall, production: DeclaredType) -> bool | None:
    """Return whether a call belongs to the class under test, by its receiver; None if unclear.

    A call without a receiver is unclear if it is imported statically from that class; else it is
    False.
    """
    if call.receiver is None:
        return None if _is_static_import(test, call.name, production) else False
    if (created := find_created_type_name(call.receiver)) is not None:
        return created == production.simple
    name = _get_variable_name(call.receiver)
    if name is None:
        return None
    if name == production.simple:
        return True
    if name not in test.variables:
        # A capital letter means another class; otherwise it is an inherited field.
        return False if name[:1].isupper() else None
    variable = test.variables[name]
    initial_type = find_created_type_name(variable.value) if variable.value is not None else None
    if production.simple in (variable.type, initial_type):
        return True
    return False if _is_jdk_type(test, variable.type) else None


def _is_jdk_type(test: JavaTest, simple: str) -> bool:
    imports = test.file.file.imports
    return simple in _JAVA_LANG or any(
        item.name == simple and item.text.startswith(('java.', 'javax.')) for item in imports
    )


def _get_variable_name(receiver: Node) -> str | None:
    """Return the name in `name` or `this.name`; None for any other expression."""
    if receiver.type == 'identifier':
        return get_text(receiver)
    if receiver.type == 'field_access' and get_text(receiver).startswith('this.'):
        return get_text(receiver).removeprefix('this.')
    return None


def _is_static_import(test: JavaTest, name: str, production: DeclaredType) -> bool:
    holder = production.canonical_name
    return any(
        item.static and item.text in (f'{holder}.{name}', holder) for item in test.file.file.imports
    )


# Detect test smells of files, databases and the network.
#
# Definitions: testsmells.org and the source of tsDetect 2.2, with its type names; thresholds are
# zero. tsDetect matches simple names only; here an import of that name from another package rules
# it out. A variable declared with `var` has the type that its initializer creates.

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

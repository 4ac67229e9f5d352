"""The imports of a Python file, wherever the statements stand.

`from m import f` is a static import if `f` is spelled like a function or constant. Whether it is a
module is decided in `coevo.languages.python.reading.trees`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from coevo.languages.declarations import Import

STATEMENTS = frozenset({'import_statement', 'import_from_statement', 'future_import_statement'})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedName:
    """One name of an import statement.

    module  the text after `from`, with leading dots; '' for a plain import
    name    the imported name: a dotted name for a plain import, '*' for all
    bound   the name under which the file uses it
    """

    module: str
    name: str
    bound: str

    @property
    def qualified(self) -> str:
        """The full name: `m.f` for `from m import f`, `a.b` for `import a.b`.

        It is `m` for `from m import *`. Leading dots are kept.
        """
        if not self.module:
            return self.name
        if self.name == '*':
            return self.module
        return f'{self.module}{"" if self.module.endswith(".") else "."}{self.name}'

    @property
    def binds_top_package(self) -> bool:
        """True if the import binds a top-level package: `import a`, `import a.b`; no alias."""
        return not self.module and self.bound == self.name.partition('.')[0]

    @property
    def last(self) -> str:
        """The last part of the imported name."""
        return self.name.rpartition('.')[2]


def list_imported_names(node: Node, source: bytes) -> Iterator[ImportedName]:
    """Yield each name that one import statement imports; `*` for all."""
    module = ''
    if node.type == 'future_import_statement':
        module = '__future__'
    elif node.type == 'import_from_statement':
        module = _read_text(node.child_by_field_name('module_name'), source)
    for child in node.children_by_field_name('name'):
        aliased = child.type == 'aliased_import'
        name = _read_text(child.child_by_field_name('name') if aliased else child, source)
        alias = _read_text(child.child_by_field_name('alias'), source) if aliased else ''
        yield ImportedName(
            module=module, name=name, bound=alias or (name if module else name.partition('.')[0])
        )
    if any(child.type == 'wildcard_import' for child in node.children):
        yield ImportedName(module=module, name='*', bound='*')


def list_imports(nodes: list[Node], source: bytes) -> Iterator[Import]:
    """Yield an `Import` for each name of the import statements, with the statement's span."""
    for node in nodes:
        for imported_name in list_imported_names(node, source):
            yield Import(
                text=imported_name.qualified,
                name=imported_name.last,
                static=bool(imported_name.module) and not _is_written_as_class(imported_name.last),
                start_byte=node.start_byte,
                end_byte=node.end_byte,
            )


def map_renamed_imports(nodes: list[Node], source: bytes) -> Mapping[str, str]:
    """Return the original simple names of imports that a file uses under an alias, by alias."""
    return {
        imported_name.bound: imported_name.last
        for node in nodes
        for imported_name in list_imported_names(node, source)
        if imported_name.bound not in (imported_name.last, imported_name.name.partition('.')[0])
    }


def _read_text(node: Node | None, source: bytes) -> str:
    if node is None:
        return ''
    text = source[node.start_byte : node.end_byte].decode(errors='replace')
    return ''.join(text.split())


def _is_written_as_class(name: str) -> bool:
    """Return whether a name is written like a class: `Till` or `T`.

    `PRICES` is a constant (https://peps.python.org/pep-0008/#constants).
    """
    return name[:1].isupper() and (len(name) == 1 or not name.isupper())

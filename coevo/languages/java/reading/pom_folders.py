"""Read which folders of a Maven module hold tests, sources and resources, by its POMs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from xml.etree import ElementTree

from coevo.languages.java.reading.project_files import BUILD_FILE, DeclaredFolder
from coevo.languages.reading import Side

_BASEDIR = re.compile(r'^\$\{(?:project\.)?basedir\}/|^\./')


@dataclass(frozen=True, slots=True, kw_only=True)
class PomFolders:
    """The folders that a POM declares, and where its parent should be.

    Paths of folders are as the POM writes them.

    folders        by element of `_DECLARING`
    added_folders  those that executions of build-helper-maven-plugin add, also in profiles
    parent         the path from the folder of this POM; None if it has no parent beside it
    """

    name: str
    folders: Mapping[str, tuple[DeclaredFolder, ...]]
    added_folders: tuple[DeclaredFolder, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    parent: str | None = None
    parent_name: str = ''


# What declares folders below the `build` of a POM, their side, and whether they hold resources.
_DECLARING = (
    ('testSourceDirectory', Side.TEST, False),
    ('sourceDirectory', Side.SOURCE, False),
    ('testResources/{*}testResource/{*}directory', Side.TEST, True),
    ('resources/{*}resource/{*}directory', Side.SOURCE, True),
)

# The goals of build-helper-maven-plugin that add folders: the elements of these in the
# configuration, their side, and whether they hold resources.
_ADDING = {
    'add-test-source': ('sources/{*}source', Side.TEST, False),
    'add-source': ('sources/{*}source', Side.SOURCE, False),
    'add-test-resource': ('resources/{*}resource/{*}directory', Side.TEST, True),
    'add-resource': ('resources/{*}resource/{*}directory', Side.SOURCE, True),
}
_ADDER = 'build-helper-maven-plugin'
_PLACEHOLDER = re.compile(r'\$\{([^${}]+)\}')
# A property may name another; properties that name each other have no end, and may grow.
_MOST_FILLINGS = 8
_LONGEST_FOLDER = 4096


def join_declared_folders(poms: Iterable[PomFolders]) -> list[DeclaredFolder]:
    """Return the folders of a module, relative to its own, by its POM and the POMs above it.

    As in Maven, a parent's folder is one of the module that inherits it.
    """
    declared: dict[str, tuple[DeclaredFolder, ...]] = {}
    properties: dict[str, str] = {}
    added: list[DeclaredFolder] = []
    for pom in poms:
        declared = {**pom.folders, **declared}
        properties = {**pom.properties, **properties}
        added += pom.added_folders
    folders = [folder for element, _, _ in _DECLARING for folder in declared.get(element, ())]
    return [
        replace(folder, path=f'{path}/')
        for folder in (*added, *folders)
        if (path := _fill_in_folder(folder.path, properties))
    ]


@lru_cache(maxsize=1024)
def parse_pom_folders(content: bytes) -> PomFolders | None:
    """Return what a POM says of folders; None if it is no XML, which Maven cannot read either."""
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    folders: dict[str, tuple[DeclaredFolder, ...]] = {}
    for names, side, is_resource in _DECLARING:
        elements = root.findall(f'{{*}}build/{{*}}{names}')
        if elements:
            folders[names] = tuple(_iterate_folders(elements, side, is_resource=is_resource))
    parent, parent_name = _find_parent_pom_and_name(root)
    return PomFolders(
        name=_find_text(root, 'artifactId'),
        folders=folders,
        added_folders=tuple(_iterate_added_folders(root)),
        properties={
            element.tag.rpartition('}')[2]: text
            for element in root.iterfind('{*}properties/*')
            if len(text := (element.text or '').strip()) <= _LONGEST_FOLDER
        },
        parent=parent,
        parent_name=parent_name,
    )


def _iterate_added_folders(root: ElementTree.Element) -> Iterator[DeclaredFolder]:
    """Yield the folders that executions of build-helper-maven-plugin add, also in profiles."""
    for plugin in root.iterfind('.//{*}plugin'):
        if _find_text(plugin, 'artifactId') == _ADDER:
            for execution in plugin.iterfind('{*}executions/{*}execution'):
                yield from _iterate_folders_of_execution(execution)


def _iterate_folders_of_execution(execution: ElementTree.Element) -> Iterator[DeclaredFolder]:
    for goal in execution.iterfind('{*}goals/{*}goal'):
        adding = _ADDING.get((goal.text or '').strip())
        if adding is not None:
            names, side, is_resource = adding
            elements = execution.findall(f'{{*}}configuration/{{*}}{names}')
            yield from _iterate_folders(elements, side, is_resource=is_resource)


def _iterate_folders(
    elements: Sequence[ElementTree.Element], side: Side, *, is_resource: bool
) -> Iterator[DeclaredFolder]:
    for element in elements:
        path = (element.text or '').strip()
        if path:
            yield DeclaredFolder(path=path, side=side, is_resource=is_resource)


def _fill_in_folder(text: str, properties: Mapping[str, str]) -> str:
    """Return a folder of a POM relative to the POM's own folder, with its properties filled in.

    Returns '' for the POM's own folder, and if a placeholder is left over or the folder lies
    outside.
    """
    for _ in range(_MOST_FILLINGS):
        if len(text) > _LONGEST_FOLDER:
            return ''
        text = _BASEDIR.sub('', text)
        text = _PLACEHOLDER.sub(lambda match: properties.get(match[1], match[0]), text)
    path = posixpath.normpath(text.strip('/')) if text.strip('/') else '.'
    return '' if '$' in path or path.split('/')[0] in ('.', '..') else path


def _find_parent_pom_and_name(root: ElementTree.Element) -> tuple[str | None, str]:
    """Return the path from a POM's folder to its parent, and the parent's name.

    The path is None if the POM has no parent, or one that Maven takes from a repository.
    """
    parent = root.find('{*}parent')
    if parent is None:
        return None, ''
    element = parent.find('{*}relativePath')
    path = '../pom.xml' if element is None else (element.text or '').strip()
    if path and not path.endswith('.xml'):
        path = f'{path}/{BUILD_FILE}'
    return path or None, _find_text(parent, 'artifactId')


def _find_text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(f'{{*}}{name}') or '').strip()

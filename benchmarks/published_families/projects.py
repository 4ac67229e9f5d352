"""MultiFileTest's 59 projects: how many files each has."""

from __future__ import annotations

from coevo.git.repository import Repository

_DATASET = {'python': 'dataset/Python/', 'java': 'dataset/JAVA/', 'javascript': 'dataset/JS/'}
_SUFFIX = {'python': '.py', 'java': '.java', 'javascript': '.js'}
EXPECTED = {'python': '20 projects, 122 files', 'java': '19 projects, 91 files'}
EXPECTED |= {'javascript': '20 projects, 80 files'}


def projects(data: Repository, language: str) -> dict[str, dict[str, bytes]]:
    """The files of each project, by their path from the folder of all of them."""
    top = _DATASET[language]
    tree = data.tree(data.get_commit('HEAD').rev)
    found: dict[str, dict[str, bytes]] = {}
    for path in sorted(tree):
        if path.startswith(top):
            inner = path.removeprefix(top)
            found.setdefault(inner.partition('/')[0], {})[inner] = data.blob(tree[path].oid)
    return found


def table(data: Repository) -> dict[str, str]:
    """Projects of each language, and files of its code in all of them."""
    found = {}
    for language, suffix in _SUFFIX.items():
        known = projects(data, language)
        files = sum(path.endswith(suffix) for some in known.values() for path in some)
        found[language] = f'{len(known)} projects, {files} files'
    return found

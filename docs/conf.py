"""Settings with which `make docs` builds these pages by Sphinx: strictly, and with nothing from the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import coevo

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = 'coevo'
copyright = '2026, the authors of coevo'
version = release = coevo.__version__
extensions = ['myst_parser', 'sphinx.ext.autodoc']
exclude_patterns = ['_build']
html_theme = 'furo'
html_title = f'coevo {release}'
html_show_sphinx = False
html_last_updated_fmt = None
# As deep as the values and reasons of schema.md, to which its tables lead.
myst_heading_anchors = 4
autodoc_typehints = 'description'
autodoc_member_order = 'bysource'

_OUTSIDE = re.compile(r'\[[^\]]+\]\((\.\./[^)#]+)(?:#[^)]*)?\)')
# As docstrings explain arguments here: aligned, with two blanks between.
_ARGUMENT = re.compile(r'(\w+)  +(\S.*)')


def _leave_out_of_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Mark a design note as an orphan: it is built and its links are checked, but no contents list it."""
    if page.startswith('internals/'):
        source[0] = f'---\norphan: true\n---\n{source[0]}'


def _name_what_is_no_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Name a file of the repository outside docs/ instead of linking it.

    A file that does not exist stays a broken link.
    """
    docs = Path(app.srcdir)
    folder = (docs / page).parent

    def named(found: re.Match[str]) -> str:
        file = (folder / found[1]).resolve()
        is_page = file.is_relative_to(docs)
        return found[0] if is_page or not file.exists() else f'`{file.relative_to(docs.parent)}`'

    source[0] = _OUTSIDE.sub(named, source[0])


def _list_arguments(
    app: Sphinx, what: str, name: str, object_: object, options: object, lines: list[str]
) -> None:
    for at, line in enumerate(lines):
        found = _ARGUMENT.fullmatch(line)
        if found:
            lines[at] = f':param {found[1]}: {found[2]}'
        elif at and lines[at - 1][:1] in (':', ' ') and line[:1] == ' ':
            lines[at] = f'    {line.strip()}'


def setup(app: Sphinx) -> None:
    app.connect('source-read', _name_what_is_no_page)
    app.connect('source-read', _leave_out_of_contents)
    app.connect('autodoc-process-docstring', _list_arguments)

"""The programs of an environment: console scripts of project and libraries, and host tools.

An installer writes a script for each entry point `console_scripts`
(https://packaging.python.org/en/latest/specifications/entry-points/). Of the host's programs tests
see those of a list alone, as what else a machine has would decide outcomes.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from coevo.git.objects import LINK
from coevo.languages.python.interpreters import ENVIRONMENT, PACKAGES, TOOLS

_GROUPS = ('console_scripts', 'gui_scripts')
_NAME = re.compile(r'[A-Za-z0-9][\w.+-]{0,99}')
_OBJECT = re.compile(r'([A-Za-z_][\w.]*):([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)*)(?:\s*\[[^\]]*\])?')
_PYTHON_SCRIPT = re.compile(rb'#!.*python[^\n]*\n')
_INTERPRETERS = re.compile(r'python[\d.]*')
_MOST_BYTES = 1 << 20

Entries = dict[str, tuple[str, bytes]]

# The utilities of POSIX as Debian has them, shells, archives, Git and a C compiler.
_TOOLS = [
    '[',
    'arch',
    'awk',
    'b2sum',
    'base32',
    'base64',
    'basename',
    'basenc',
    'bash',
    'bzip2',
    'cat',
    'chgrp',
    'chmod',
    'chown',
    'cksum',
    'cmp',
    'comm',
    'cp',
    'csplit',
    'cut',
    'dash',
    'date',
    'dd',
    'df',
    'diff',
    'dir',
    'dirname',
    'du',
    'echo',
    'egrep',
    'env',
    'expand',
    'expr',
    'factor',
    'false',
    'fgrep',
    'file',
    'find',
    'fmt',
    'fold',
    'getconf',
    'grep',
    'groups',
    'gunzip',
    'gzip',
    'head',
    'hostname',
    'id',
    'install',
    'join',
    'kill',
    'ldd',
    'less',
    'link',
    'ln',
    'locale',
    'logname',
    'ls',
    'md5sum',
    'mkdir',
    'mkfifo',
    'mktemp',
    'more',
    'mv',
    'nice',
    'nl',
    'nohup',
    'nproc',
    'numfmt',
    'od',
    'paste',
    'patch',
    'pathchk',
    'pgrep',
    'pkill',
    'pr',
    'printenv',
    'printf',
    'ps',
    'pwd',
    'readlink',
    'realpath',
    'rm',
    'rmdir',
    'sed',
    'seq',
    'sh',
    'sha1sum',
    'sha224sum',
    'sha256sum',
    'sha384sum',
    'sha512sum',
    'shuf',
    'sleep',
    'sort',
    'split',
    'stat',
    'stdbuf',
    'stty',
    'sum',
    'sync',
    'tac',
    'tail',
    'tar',
    'tee',
    'test',
    'time',
    'timeout',
    'touch',
    'tr',
    'true',
    'truncate',
    'tsort',
    'tty',
    'uname',
    'unexpand',
    'uniq',
    'unlink',
    'unxz',
    'unzip',
    'wc',
    'which',
    'who',
    'whoami',
    'xargs',
    'xz',
    'yes',
    'zcat',
    'zip',
    'ar',
    'as',
    'c++',
    'cc',
    'g++',
    'gcc',
    'git',
    'ld',
    'make',
    'pkg-config',
]


def make_tool_links() -> Entries:
    """Return links to the host's programs that tests may use, by their paths in the sandbox.

    Links are returned whether or not this host has the programs.
    """
    return {f'{TOOLS}/{name}': (LINK, f'/usr/bin/{name}'.encode()) for name in _TOOLS}


def make_scripts(points: Iterable[tuple[str, Iterable[str]]], site: Path) -> Entries:
    """Return the scripts of an environment by their paths in the sandbox.

    points  entry points of the project: a group and its lines `name = module:object`
    site    the folder of the installed packages
    """
    scripts = dict(_list_packages_scripts(site))
    for group, lines in points:
        if group in _GROUPS:
            scripts |= dict(_make_entry_point_scripts(lines))
    return {f'{ENVIRONMENT}/bin/{name}': entry for name, entry in sorted(scripts.items())}


@lru_cache(maxsize=64)
def _list_packages_scripts(site: Path) -> tuple[tuple[str, tuple[str, bytes]], ...]:
    """Return the scripts of the installed packages by name. Cached: environments never change."""
    scripts: Entries = {}
    for path in sorted(site.glob('bin/*')):
        if path.is_file() and _is_usable_script_name(path.name):
            scripts[path.name] = _read_script(path)
    for path in sorted(site.glob('*.dist-info/entry_points.txt')):
        if path.stat().st_size <= _MOST_BYTES:
            sections = parse_entry_points(path.read_text(encoding='utf-8', errors='replace'))
            for group in _GROUPS:
                scripts |= dict(_make_entry_point_scripts(sections.get(group, ())))
    return tuple(scripts.items())


def _read_script(path: Path) -> tuple[str, bytes]:
    """Return a file of an environment's `bin` as a mode and content.

    A Python script gets the environment's interpreter; any other program becomes a link.
    """
    if path.stat().st_size <= _MOST_BYTES:
        content = path.read_bytes()
        if (first := _PYTHON_SCRIPT.match(content)) is not None:
            return '100755', _format_shebang() + content[first.end() :]
    return LINK, f'{PACKAGES}/bin/{path.name}'.encode()


def parse_entry_points(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the lines `name = value` of each group of an entry_points.txt; {} if unreadable."""
    parser = configparser.RawConfigParser(strict=False, delimiters=('=',))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {
        group: tuple(f'{name} = {value}' for name, value in parser.items(group))
        for group in parser.sections()
    }


def list_entry_points(
    metadata: Iterable[tuple[str, bytes]],
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the entry points in the files of a .dist-info folder, each group with its lines."""
    text = next((text for path, text in metadata if path.endswith('/entry_points.txt')), b'')
    return tuple(sorted(parse_entry_points(text.decode(errors='replace')).items()))


def _make_entry_point_scripts(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, bytes]]]:
    for line in lines:
        name, _, reference = (part.strip() for part in line.partition('='))
        match = _OBJECT.fullmatch(reference)
        if match is not None and _is_usable_script_name(name):
            module, first, rest = match.groups()
            text = (
                f'import sys\nfrom {module} import {first}\n\n'
                f"if __name__ == '__main__':\n    sys.exit({first}{rest}())\n"
            )
            yield name, ('100755', _format_shebang() + text.encode())


def _is_usable_script_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and _INTERPRETERS.fullmatch(name) is None


def _format_shebang() -> bytes:
    return f'#!{ENVIRONMENT}/bin/python\n'.encode()

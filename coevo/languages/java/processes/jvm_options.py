"""Select the project's own JVM options that a test JVM can be started with.

Left out are agents and debuggers, placeholders that only a running Maven can fill in, options for
the collector or the initial heap size, which contradict coevo's own, and everything that would
start another program than the worker.

A module path below `target` is filled by Maven. All that it would contain is on the class path, so
the option is left out together with the modules that it would provide.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

_REFUSED = re.compile(
    r'-javaagent:|-agentlib:|-agentpath:|-Xrun|-Xdebug'
    r'|-Xms|-XX:\+Use\w+GC$|-XX:InitialHeapSize='
    r'|-XX:(Flags|VMOptionsFile)='
    r'|[^-]'  # a main class, or @ and a file of more options
)
# Options whose value is the next word; the values of `_PROGRAM` options are programs.
_WITH_VALUE = (
    *('--add-exports', '--add-modules', '--add-opens', '--add-reads', '--enable-native-access'),
    *('--limit-modules', '--module-path', '-p', '--patch-module', '--upgrade-module-path'),
    *('--class-path', '-classpath', '-cp', '--illegal-native-access'),
)
_PROGRAM = ('-jar', '--module', '-m', '--source')
_UNFILLED = ('@{', '${')
_MODULE_PATH = ('--module-path', '-p')
_MADE_BY_MAVEN = re.compile(r'(^|/)target(/|$)')
_OF_THE_JDK = re.compile(r'java\.|jdk\.|ALL-')

# Environment variables from which a JVM reads additional options.
_VARIABLES = ('JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS')


def select_usable_options(line: str) -> Iterator[str]:
    """Yield the words of a line of JVM options, such as surefire's argLine, that are allowed.

    The module's docstring says which are left out.
    """
    options = [*_parse_allowed_options(line)]
    unfilled = [option for option in options if _is_module_path_in_target(*_split_option(*option))]
    for option in options:
        name, value = _split_option(*option)
        if option in unfilled:
            continue
        if unfilled and name == '--add-modules':
            yield from _make_add_jdk_modules_option(value)
        else:
            yield from option if option[1] else option[:1]


def _parse_allowed_options(line: str) -> Iterator[tuple[str, str]]:
    """Yield each allowed option of a line with its value if that is a separate word, else with ''.

    Options with an unfilled placeholder are left out.
    """
    words = iter(_split_words(line))
    for word in words:
        value = next(words, None) if word in (*_WITH_VALUE, *_PROGRAM) else ''
        if value is None or word in _PROGRAM or _REFUSED.match(word):
            continue
        if not any(mark in text for mark in _UNFILLED for text in (word, value)):
            yield word, value


def _split_option(word: str, value: str) -> tuple[str, str]:
    """Return the option's name and its value, which may be joined by `=`."""
    name, _, joined = word.partition('=')
    return name, value or joined


def _is_module_path_in_target(name: str, value: str) -> bool:
    return name in _MODULE_PATH and all(map(_MADE_BY_MAVEN.search, value.split(':')))


def _make_add_jdk_modules_option(names: str) -> Iterator[str]:
    """Yield the option with only the modules that belong to the JDK; nothing if none is left."""
    left = [name for name in names.split(',') if _OF_THE_JDK.match(name)]
    if left:
        yield f'--add-modules={",".join(left)}'


def limit_variables_to_usable_options(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables; those with JVM options are reduced to the usable options."""
    return {
        name: shlex.join(select_usable_options(value)) if name in _VARIABLES else value
        for name, value in variables.items()
    }


def _split_words(line: str) -> Sequence[str]:
    """Return the words of a command line as a shell splits it.

    If a quote is not closed, the line is split at white space only.
    """
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()

"""Prompts of a user's own: messages with variables of a task in them, `{{class_under_test}}`, filled before an attempt."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.agents.one_shot import MOST_SHOWN
from coevo.evaluation.judging.start_states import start_file
from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.table import LANGUAGES
from coevo.model.task_rows import TaskRow

_VARIABLE = re.compile(r'\{\{\s*(\w+)\s*\}\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message to a model; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Messages whose variables are a task's, or have a text of their own."""

    messages: tuple[Message, ...]
    texts: Mapping[str, str]

    @property
    def variables(self) -> frozenset[str]:
        """All that are named."""
        return frozenset(name for one in self.messages for name in _VARIABLE.findall(one.content))

    def filled(self, repository: Repository, task: TaskRow) -> tuple[Message, ...]:
        """At once, since code may hold what looks like a variable; StartStateLost."""
        known = {name: self._text(name, repository, task) for name in self.variables}
        return tuple(
            Message(role=one.role, content=_VARIABLE.sub(lambda at: known[at[1]], one.content))
            for one in self.messages
        )

    def _text(self, name: str, repository: Repository, task: TaskRow) -> str:
        text = self.texts[name] if name in self.texts else VARIABLES[name](repository, task)
        rest = len(text) - MOST_SHOWN
        return text if rest <= 0 else f'{text[:MOST_SHOWN]}\n({rest} characters are left out)'


# -- variables of a task ---------------------------------------------------------------------------


def _files(task: TaskRow) -> tuple[str, ...]:
    """Those of the focus; of a task without one those that changed."""
    named = [one.file for one in task.focus or ()] or [one.file for one in task.dependencies]
    return tuple(dict.fromkeys(named))


def _code(repository: Repository, task: TaskRow) -> str:
    """A file as it is; several each below its path."""
    found = {path: content(repository, task.new_rev, path) for path in _files(task)}
    texts = {path: text.decode('utf-8', 'replace') for path, text in found.items() if text}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return '\n\n'.join(f'{path}:\n{text}' for path, text in texts.items())


def _start(repository: Repository, task: TaskRow) -> str:
    return (start_file(repository, task) or b'').decode('utf-8', 'replace')


def _declarations(task: TaskRow) -> Iterator[str]:
    focus = [one.declaration for one in task.focus or ()]
    yield from dict.fromkeys(focus or [one.declaration for one in task.dependencies])


def _framework(task: TaskRow) -> str:
    """With the libraries that bear its name, and their versions."""
    name = LANGUAGES[task.language].prompt_words(task.module, task.test_file, ()).framework
    own = [one for one in _libraries(task) if name.lower() in one.lower()]
    return f'{name} ({", ".join(own)})' if own else name


def _libraries(task: TaskRow) -> tuple[str, ...]:
    libraries = task.environment.libraries if task.environment else ()
    return tuple(one.coordinates for one in libraries)


def _runtime(task: TaskRow) -> str:
    return task.environment.runtime if task.environment else ''


VARIABLES: Mapping[str, Callable[[Repository, TaskRow], str]] = {
    'class_under_test': _code,
    'class_under_test_name': lambda _, task: '\n'.join(_declarations(task)),
    'class_under_test_path': lambda _, task: '\n'.join(_files(task)),
    'java_version': lambda _, task: _runtime(task),
    'language': lambda _, task: task.language,
    'libraries': lambda _, task: '\n'.join(_libraries(task)),
    'prompt': lambda _, task: task.prompt or '',
    'runtime_version': lambda _, task: _runtime(task),
    'test_file': _start,
    'test_file_path': lambda _, task: task.test_file,
    'testing_framework': lambda _, task: _framework(task),
}
"""What a template may name of every task. None of it shows gold."""

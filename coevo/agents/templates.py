"""Prompts of a user: messages with variables such as `{{class_under_test}}`, filled per task."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coevo.agents.one_shot import (
    MOST_SHOWN,
    compose_code_question,
    compose_question_with_named_files,
)
from coevo.evaluation.judging.start_states import (
    list_code_files_changed_by_gold,
    restore_start_file,
)
from coevo.git.repository import Repository, load_content
from coevo.languages.table import LANGUAGES
from coevo.model.task_rows import TaskRow

_VARIABLE = re.compile(r'\{\{\s*(\w+)\s*\}\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message to a model; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """Messages with variables, which come from the task or have a text of their own in `texts`."""

    messages: tuple[Message, ...]
    texts: Mapping[str, str]

    @property
    def variables(self) -> frozenset[str]:
        """The names of all variables in the messages."""
        return frozenset(
            name for message in self.messages for name in _VARIABLE.findall(message.content)
        )

    def fill(self, repository: Repository, task: TaskRow) -> tuple[Message, ...]:
        """Return the messages with all variables replaced.

        All are replaced in one pass, since code may contain text that looks like a variable.

        Raises: StartStateLost if the task has no start state.
        """
        known = {name: self._resolve_variable(name, repository, task) for name in self.variables}
        return tuple(
            Message(
                role=message.role, content=_VARIABLE.sub(lambda at: known[at[1]], message.content)
            )
            for message in self.messages
        )

    def _resolve_variable(self, name: str, repository: Repository, task: TaskRow) -> str:
        text = self.texts[name] if name in self.texts else VARIABLES[name](repository, task)
        rest = len(text) - MOST_SHOWN
        return text if rest <= 0 else f'{text[:MOST_SHOWN]}\n({rest} characters are left out)'


def compose_task_question(repository: Repository, task: TaskRow, start: bytes | None) -> str:
    """Return what the baseline one-shot asks for a task whose test file is `start` at the start.

    A task that asks for code is answered by a patch, and shows the files that gold changes.
    """
    changed = list_code_files_changed_by_gold(task)

    def load_text(path: str) -> str | None:
        """Return the text of a file of the start state; None if it is absent."""
        rev = task.old_rev if path in changed else task.new_rev
        file_bytes = start if path == task.test_file else load_content(repository, rev, path)
        return None if file_bytes is None else file_bytes.decode('utf-8', 'replace')

    if task.asks_for_code:
        return compose_code_question(task.prompt or '', task.test_file, changed, load_text)
    return compose_question_with_named_files(task.prompt or '', task.test_file, load_text)


# -- variables of a task ---------------------------------------------------------------------------


def _list_focus_files(task: TaskRow) -> tuple[str, ...]:
    """Return the files of the focus; for a task without a focus, the files that changed."""
    named = [unit.file for unit in task.focus or ()] or [unit.file for unit in task.dependencies]
    return tuple(dict.fromkeys(named))


def _load_focus_files(repository: Repository, task: TaskRow) -> str:
    """Return the content of the files of `_list_files` at the new revision.

    If there are several, each stands below its path. Absent files are left out.
    """
    contents = {
        path: load_content(repository, task.new_rev, path) for path in _list_focus_files(task)
    }
    texts = {path: text.decode('utf-8', 'replace') for path, text in contents.items() if text}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return '\n\n'.join(f'{path}:\n{text}' for path, text in texts.items())


def _load_start_test_text(repository: Repository, task: TaskRow) -> str:
    return (restore_start_file(repository, task) or b'').decode('utf-8', 'replace')


def _list_focus_declarations(task: TaskRow) -> Iterator[str]:
    focus = [unit.declaration for unit in task.focus or ()]
    yield from dict.fromkeys(focus or [unit.declaration for unit in task.dependencies])


def _describe_framework(task: TaskRow) -> str:
    """Return the test framework, with the versions of the libraries of that name."""
    name = LANGUAGES[task.language].make_prompt_words(task.module, task.test_file, ()).framework
    own = [
        library for library in _list_library_coordinates(task) if name.lower() in library.lower()
    ]
    return f'{name} ({", ".join(own)})' if own else name


def _list_library_coordinates(task: TaskRow) -> tuple[str, ...]:
    libraries = task.environment.libraries if task.environment else ()
    return tuple(library.coordinates for library in libraries)


def _get_runtime(task: TaskRow) -> str:
    return task.environment.runtime if task.environment else ''


VARIABLES: Mapping[str, Callable[[Repository, TaskRow], str]] = {
    'class_under_test': _load_focus_files,
    'class_under_test_name': lambda _, task: '\n'.join(_list_focus_declarations(task)),
    'class_under_test_path': lambda _, task: '\n'.join(_list_focus_files(task)),
    'java_version': lambda _, task: _get_runtime(task),
    'language': lambda _, task: task.language,
    'libraries': lambda _, task: '\n'.join(_list_library_coordinates(task)),
    'prompt': lambda _, task: task.prompt or '',
    'runtime_version': lambda _, task: _get_runtime(task),
    'test_file': _load_start_test_text,
    'test_file_path': lambda _, task: task.test_file,
    'testing_framework': lambda _, task: _describe_framework(task),
}
"""Variables that a template may use for every task. None of them reveals gold."""

"""Application of a submitted patch to the code of a start state.

Only files of the code count. Parts of a patch about tests, build files and files that are neither
have no effect, since agents leave such files behind; the result names them. What cannot be applied
to the code refuses the whole patch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from coevo.evaluation.judging.application import (
    MOST_BYTES,
    Refusal,
    apply_section,
    find_section_violation,
    find_unreadable_refusal,
)
from coevo.evaluation.judging.start_states import StartStates, list_code_files_changed_by_gold
from coevo.evaluation.judging.unified_diffs import DiffSection, MalformedDiff, parse_sections
from coevo.evaluation.outcomes import Detail
from coevo.git.objects import LINK
from coevo.git.repository import Repository, load_content
from coevo.languages.reading import LanguageReading, RevisionTree, Side
from coevo.languages.table import get_reading
from coevo.model.task_rows import TaskRow
from coevo.starts.isolated_cells import Files

NO_FILE = Refusal(
    detail=Detail.MALFORMED, message='the task asks for code: hand in a patch, not a test file'
)

# Names of modules and files that Python and pytest load by themselves, whoever needs them.
_LOADED_UNASKED = frozenset({'sitecustomize.py', 'usercustomize.py', 'conftest.py'})
_SETTINGS = frozenset({'.ini', '.cfg', '.toml', '.pth', '.egg-link'})


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedCode:
    """The files of the code after a patch; content None is a deleted file.

    left_out  paths of the parts that have no effect, sorted
    """

    files: Files
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class StartCode:
    """The start state to which patches are applied.

    rev   the commit of the start state
    gold  the files that gold changes, which every patch may change
    own   the contents of these files at both ends
    """

    repository: Repository
    language: str
    rev: str
    gold: Collection[str]
    own: Sequence[bytes | None] = ()

    @cached_property
    def tree(self) -> RevisionTree:
        """The files of the start state."""
        return self.reading.open_tree(self.repository, self.rev)

    @property
    def reading(self) -> LanguageReading:
        """The reading of the task's language."""
        return get_reading(self.language)

    def may_be_patched(self, path: str) -> bool:
        """Return whether a patch may change a file of the start state, or add it.

        These are the files that gold changes, source files of the language, and other files of the
        code that lie beside or below such source files; never links. The side of a file that is
        there is that of the start state, whatever a patch adds.
        """
        entry = self.tree.entries.get(path)
        if entry is not None and entry.mode == LINK:
            return False
        if path in self.gold:
            return True
        if not _is_safe_path(path):
            return False
        name = PurePosixPath(path)
        if self.reading.is_build_file(path) or name.name in _LOADED_UNASKED:
            return False
        if path.endswith(self.reading.SUFFIXES):
            return self._find_side(path) is Side.SOURCE
        if name.suffix in _SETTINGS or name.name.startswith('.'):
            return False
        beside = not self._source_folders.isdisjoint(str(folder) for folder in name.parents)
        return beside and self.tree.belongs_to_code(path) and not self.tree.belongs_to_tests(path)

    def list_patchable_paths(self) -> tuple[str, ...]:
        """Return the paths of the start state that a patch may change, sorted."""
        return tuple(sorted(path for path in self.tree.entries if self.may_be_patched(path)))

    @cached_property
    def _source_folders(self) -> frozenset[str]:
        """The folders below the root that have source files of the language."""
        parents = (
            str(PurePosixPath(source).parent) for source in self.tree.list_paths(Side.SOURCE)
        )
        return frozenset(parents) - {'.'}

    def _find_side(self, path: str) -> Side | None:
        if path in self.tree.entries:
            return self.tree.find_side(path)
        placement = self.reading.classify_path(path)
        return None if placement is None else placement.side


def open_start_code(states: StartStates, task: TaskRow, rev: str) -> StartCode:
    """Return the start state of a task that asks for code, which was committed as `rev`."""
    gold = list_code_files_changed_by_gold(task)
    ends = (task.old_rev, task.new_rev)
    return StartCode(
        repository=states.repository,
        language=task.language,
        rev=rev,
        gold=gold,
        own=[load_content(states.source, end, path) for end in ends for path in gold],
    )


def find_code_refusal(patch: bytes | None) -> Refusal | None:
    """Return why a patch is refused whatever it would be applied to; None if it is not."""
    read = _read_sections(patch)
    return read if isinstance(read, Refusal) else None


def apply_code_patch(patch: bytes | None, start: StartCode) -> AppliedCode | Refusal:
    """Apply a patch to the code of a start state, or return why it is refused."""
    sections = _read_sections(patch)
    if isinstance(sections, Refusal):
        return sections
    files: dict[str, bytes | None] = {}
    left_out = []
    for path, section in sections.items():
        if not start.may_be_patched(path):
            left_out.append(path)
            continue
        before = load_content(start.repository, start.rev, path)
        applied = apply_section(section, before)
        if isinstance(applied, Refusal):
            return replace(applied, message=f'{path}: {applied.message}')
        refusal = _find_content_refusal(start, path, applied.content)
        if refusal is not None:
            return refusal
        files[path] = applied.content
    if not files:
        message = f'it changes no file of the code, but {left_out[0]}'
        return Refusal(detail=Detail.NO_CODE, message=message)
    return AppliedCode(files=tuple(sorted(files.items())), left_out=tuple(sorted(left_out)))


def _find_content_refusal(start: StartCode, path: str, content: bytes | None) -> Refusal | None:
    """Return the refusal of a source file that cannot be read, or has what only hostile code needs.

    What gold's files have, at either end, is accepted.
    """
    if content is None or not path.endswith(start.reading.SUFFIXES):
        return None
    reason = start.reading.explain_refusal(
        content, [text for text in start.own if text is not None]
    )
    if reason is not None:
        return Refusal(detail=Detail.NOT_ACCEPTED, message=f'{path}: {reason}')
    return find_unreadable_refusal(path, content)


def _read_sections(patch: bytes | None) -> Mapping[str, DiffSection] | Refusal:
    """Return the sections of a patch by path, or a refusal."""
    if patch is None:
        return Refusal(detail=Detail.NO_PREDICTION)
    if len(patch) > MOST_BYTES:
        return Refusal(detail=Detail.TOO_LARGE, message=f'{len(patch)} bytes, at most {MOST_BYTES}')
    if not patch.strip():
        return Refusal(detail=Detail.EMPTY)
    try:
        sections = parse_sections(patch)
    except MalformedDiff as error:
        return Refusal(detail=Detail.MALFORMED, message=str(error))
    if not sections:
        return Refusal(detail=Detail.MALFORMED, message='it is not a unified diff')
    by_path: dict[str, DiffSection] = {}
    for section in sections:
        detail = find_section_violation(section)
        if detail is not None:
            return Refusal(detail=detail, message=section.format_name())
        path = section.find_path()
        if path is None or not _is_safe_path(path):
            return Refusal(detail=Detail.MALFORMED, message=f'the path {section.format_name()!r}')
        if path in by_path:
            return Refusal(detail=Detail.MALFORMED, message=f'it changes {path} twice')
        by_path[path] = section
    return by_path


def _is_safe_path(path: str) -> bool:
    """Return whether a path stays below the root and names no part of Git's own."""
    parts = path.split('/')
    return (
        bool(path)
        and all(part not in ('', '.', '..') and part.lower() != '.git' for part in parts)
        and '\0' not in path
        and '\n' not in path
    )

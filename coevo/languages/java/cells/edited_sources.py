"""Edited sources of a module: their old and new texts, and the compiler's results for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coevo.languages.java.building.build_outputs import RESOURCES
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.cells.edited_files import Files, find_top_level_types, list_type_names

Texts = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSets:
    """The compiler's result for each set of sources.

    folder  holds the class files, those of set K in its subfolder K
    """

    checked: tuple[Mapping[str, str | None], ...]
    folder: Path
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedSources:
    """The texts of a module's edited sources before and after the edit.

    They lie in the folders `before` and `after` of `folder`.
    """

    folder: Path
    before: Texts
    after: Texts

    @property
    def sets(self) -> list[Path]:
        """The folders to compile: `before`, then `after`; a folder without sources is left out."""
        both = (('before', self.before), ('after', self.after))
        return [self.folder / name for name, some in both if some]

    @property
    def family(self) -> frozenset[str]:
        """The top-level types that the sources declare before the edit."""
        return find_top_level_types([text for _, text in self.before])

    @property
    def loses_types(self) -> bool:
        """True if the sources declare a type before the edit that they do not declare after it."""
        after = list_type_names(text for _, text in self.after if text)
        return bool(list_type_names(text for _, text in self.before) - after)

    def find_failure(self, result: CheckedSets) -> str | None:
        """Return the compiler's error in the edited sources; None if they compile.

        Also returns None if all sources were deleted.
        """
        return result.checked[-1]['signature'] if self.after else None

    def is_same_outside(self, result: CheckedSets) -> bool:
        """Return whether other sources see the same declarations before and after the edit.

        False if the sources are new or deleted, or if what others see is unknown.
        """
        if not self.before or not self.after:
            return False
        was, now = result.checked[0]['outside'], result.checked[-1]['outside']
        return bool(was) and was == now

    def locate_class_files(self, result: CheckedSets) -> Path | None:
        """Return the folder of class files of the edited sources; None if none is left."""
        return result.folder / str(len(self.sets) - 1) if self.after else None


def select_java_sources(module: JavaModule, files: Files) -> Files:
    """Return the `.java` files among edited files, except those in `src/main/resources`."""
    root = PurePosixPath(module.path, RESOURCES)
    return tuple(
        edited_file
        for edited_file in files
        if edited_file[0].endswith('.java')
        and not PurePosixPath(edited_file[0]).is_relative_to(root)
    )

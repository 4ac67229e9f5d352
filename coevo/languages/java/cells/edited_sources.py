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
    """The compiler's result for each set of sources, and the folder of their class files."""

    checked: tuple[Mapping[str, str | None], ...]
    folder: Path
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedSources:
    """Old and new texts of a module's edited sources, each set in a folder of its own."""

    folder: Path
    before: Texts
    after: Texts

    @property
    def sets(self) -> list[Path]:
        """The folders to compile, in this order; empty sets are left out."""
        both = (('before', self.before), ('after', self.after))
        return [self.folder / name for name, some in both if some]

    @property
    def family(self) -> frozenset[str]:
        """The top-level types of the old texts."""
        return find_top_level_types([text for _, text in self.before])

    @property
    def loses_types(self) -> bool:
        """True if a type of the old texts is missing in the new ones."""
        after = list_type_names(text for _, text in self.after if text)
        return bool(list_type_names(text for _, text in self.before) - after)

    def find_failure(self, result: CheckedSets) -> str | None:
        """Return the compiler's error for the new texts; None if they compile or there are none."""
        return result.checked[-1]['signature'] if self.after else None

    def is_same_outside(self, result: CheckedSets) -> bool:
        """Return whether other sources see the same declarations in them as before."""
        if not self.before or not self.after:
            return False
        was, now = result.checked[0]['outside'], result.checked[-1]['outside']
        return bool(was) and was == now

    def locate_class_files(self, result: CheckedSets) -> Path | None:
        """Return the folder of class files of the new texts; None if there are none."""
        return result.folder / str(len(self.sets) - 1) if self.after else None


def select_java_sources(module: JavaModule, files: Files) -> Files:
    """Return the edited files that the Java compiler compiles."""
    root = PurePosixPath(module.path, RESOURCES)
    return tuple(
        edited_file
        for edited_file in files
        if edited_file[0].endswith('.java')
        and not PurePosixPath(edited_file[0]).is_relative_to(root)
    )

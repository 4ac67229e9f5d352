"""Programs that make mutants of their own, where a language has one: PIT for byte code."""

from __future__ import annotations

from typing import Protocol

from coevo.model.listener import Say


class MutationTool(Protocol):
    """A module, or object, of a language whose workshops can `mutate`."""

    # such as 1.30.0: another one makes other mutants
    def version(self) -> str: ...

    # has it on this machine before it is needed; Transient
    def fetch(self, say: Say) -> object: ...

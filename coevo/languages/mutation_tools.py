"""Programs that make mutants of their own, where a language has one: PIT for byte code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from coevo.model.listener import Say
from coevo.model.quality import PitTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCodeMutant:
    """A mutant of PIT's; all but `killed` is the same for every test of the same class files.

    type        binary name of its class
    method      as the class file has it
    index       where it is in the method's instructions
    killed      None where PIT could not run it
    """

    type: str
    method: str
    descriptor: str
    line: int
    mutator: str
    index: str
    killed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCodeMutants:
    """Those of some lines, or why there are none; `said` is PIT's, of that."""

    mutants: tuple[ByteCodeMutant, ...] = ()
    trouble: PitTrouble | None = None
    said: str = ''
    cpu_seconds: float = 0.0


class MutationTool(Protocol):
    """A module, or object, of a language whose pairs can `mutate`."""

    # such as 1.30.0: another one makes other mutants
    def find_version(self) -> str: ...

    # has it on this machine before it is needed; Transient
    def fetch(self, say: Say) -> object: ...

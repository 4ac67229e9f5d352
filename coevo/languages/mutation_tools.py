"""Programs that make and run their own mutants, for languages that have one: PIT for byte code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from coevo.model.listener import Say
from coevo.model.quality import PitTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCodeMutant:
    """A mutant made by PIT, with its result under one test.

    All fields but `killed` are the same for every test of the same class files.

    type    the binary name of its class
    method  the name in the class file
    index   the position among the instructions of the method
    killed  whether the test noticed the mutant; None if PIT could not run it
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
    """The mutants of some lines with their results, or the reason why there are none.

    trouble  the kind of the reason; None if PIT ran
    said     PIT's explanation of the trouble
    """

    mutants: tuple[ByteCodeMutant, ...] = ()
    trouble: PitTrouble | None = None
    said: str = ''
    cpu_seconds: float = 0.0


class MutationTool(Protocol):
    """The tool by which pairs of a language `mutate`: its version, and its installation."""

    def find_version(self) -> str:
        """Return the version, such as 1.30.0; each version makes other mutants."""

    def fetch(self, say: Say) -> object:
        """Install the tool on this machine before it is needed.

        Raises:
            Transient: it cannot be downloaded now.
        """

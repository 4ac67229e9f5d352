"""The place of an interpreter in the sandbox: its own path below /usr, else /python."""

from __future__ import annotations

from pathlib import Path

from coevo.languages.python.interpreters import Interpreter, ensure_open_prefix
from coevo.languages.python.places import PYTHON
from coevo.sandboxes.sandbox import Mount

# The sandbox always shows the programs below this folder.
_SYSTEM = Path('/usr')


def get_sandbox_program(interpreter: Interpreter) -> str:
    """Return the path of its program in the sandbox."""
    prefix = str(interpreter.prefix) if _is_system(interpreter) else PYTHON
    return f'{prefix}/{interpreter.name}'


def get_library_variables(interpreter: Interpreter) -> dict[str, str]:
    """Return the variables for its processes; if moved, it does not find its shared library."""
    return {} if _is_system(interpreter) else {'LD_LIBRARY_PATH': f'{PYTHON}/lib'}


def list_interpreter_mounts(interpreter: Interpreter) -> tuple[Mount, ...]:
    """Return the mounts that make an interpreter visible."""
    if _is_system(interpreter):
        return ()
    return (Mount(source=ensure_open_prefix(interpreter), target=PYTHON),)


def _is_system(interpreter: Interpreter) -> bool:
    return interpreter.prefix == _SYSTEM

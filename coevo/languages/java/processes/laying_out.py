"""What a shell in the sandbox does before a test process: it lays the tree out, and changes into it."""

from __future__ import annotations

from coevo.languages.java.places import PACKED_TREE, TREE
from coevo.languages.java.processes.archives import LIST

# The tree is laid out anew for every process, so that none sees what another one wrote, and in the
# same way whatever is in it: as many processes, the same words. Dates are those of the archive.
_TREE_LAID_OUT = f"""\
set -e
folder=$1; shift 2
tar -x -p --no-same-owner -f {PACKED_TREE} -C {TREE}
mkdir -p "{TREE}/$folder"
cd "{TREE}/$folder"
"""

# Then the process itself, its channel on standard output.
LAY_OUT = f'{_TREE_LAID_OUT}exec "$@" 3>&1 1>&2\n'

# The same under observation: where to connect to is the first line of standard input.
_OBSERVED = """\
read -r port
java=$1; shift
exec "$java" "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:$port" \\
    "$@" 3>&1 1>&2
"""
LAY_OUT_OBSERVED = _TREE_LAID_OUT + _OBSERVED

# The same for a process that only lists what it loads.
LAY_OUT_AND_LIST = f'{_TREE_LAID_OUT}{LIST}\n'


def make_report_script(file: str) -> str:
    """The same for a process that leaves a file; where it fails, nothing is on the channel."""
    return f'{_TREE_LAID_OUT}"$@" 1>&2\ncat {file}\n'

"""What an evaluation costs, by why its programs are run.

    python -m benchmarks.run_kinds OUT.json evaluate SNAPSHOT PREDICTIONS --out ...

Each sandboxed process, and each answer of a builder's session, is laid to the innermost function on
the stack that `KINDS` names. CPU seconds are of whole process trees; `own` is our Python.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from coevo.command.main import main as coevo_main
from coevo.languages.java.building.session import JvmAnswer, JvmDeath, JvmSession
from coevo.sandboxes.process import Process

# By the end of the module's name and the function; the innermost that is named here counts.
KINDS = {
    ('session', '_running'): 'session',
    ('archives', None): 'archive',
    ('judging.protocol', '_build'): 'build',
    ('judging.protocol', '_shadows'): 'shadows',
    ('judging.protocol', 'judge'): 'compile on new',
    ('judging.protocol', '_on_new'): 'watched',
    ('judging.protocol', '_old_cell'): 'compile on old',
    ('judging.protocol', '_on_old'): 'on old',
    ('judging.steadiness', 'passes_again'): 'passes again',
    ('judging.steadiness', 'fails_again'): 'fails again',
    ('judging.placebos', 'look'): 'placebo',
    ('judging.preconditions', 'of'): 'precondition',
    ('judging.shown_sources', 'shown_sources'): 'sources of old snapshots',
    ('judging.neighbours', 'neighbours'): 'neighbours',
    ('measuring.coverage', 'executed'): 'coverage',
    ('measuring.oracle', 'old_kills'): 'kills of the old test',
    ('measures.mutants', 'run_mutants'): 'mutants',
    ('measures.reversals', 'measure_reversals'): 'reversals',
}

_guard = threading.Lock()
_used: dict[str, list[float]] = defaultdict(list)
_kinds: dict[int, str] = {}
_answers: dict[int, float] = defaultdict(float)


def _kind() -> str:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module, name = frame.f_globals.get('__name__', ''), frame.f_code.co_name
        if name == 'run_confirmed' and 'asked' in frame.f_locals:
            return 'reversals, confirmed'
        for (end, function), kind in KINDS.items():
            if module.endswith(f'.{end}') and function in (None, name):
                return kind
        frame = frame.f_back
    return 'other'


def _meter() -> None:
    start, reap, ask = Process.__init__, Process._reap, JvmSession._ask_once

    def started(process: Process, *arguments: object, **named: object) -> None:
        with _guard:
            _kinds[id(process)] = _kind()
        start(process, *arguments, **named)  # type: ignore[arg-type]

    def reaped(process: Process) -> None:
        process._sample_usage()
        reap(process)
        with _guard:
            spent = process._cpu_seconds - _answers.pop(id(process), 0.0)
            _used[_kinds.pop(id(process), 'other')].append(spent)

    def asked(session: JvmSession, request: Sequence[str], folder: Path) -> JvmAnswer | JvmDeath:
        answer = ask(session, request, folder)
        if isinstance(answer, JvmAnswer) and session._process is not None:
            with _guard:
                _used[f'{_kind()}: javac or Maven'].append(answer.cpu_seconds)
                _answers[id(session._process)] += answer.cpu_seconds
        return answer

    Process.__init__ = started  # type: ignore[assignment]
    Process._reap = reaped  # type: ignore[assignment]
    JvmSession._ask_once = asked  # type: ignore[assignment]


def main() -> None:
    out = Path(sys.argv.pop(1))
    _meter()
    try:
        status = coevo_main()
    finally:
        own = resource.getrusage(resource.RUSAGE_SELF)
        _used['own'].append(own.ru_utime + own.ru_stime)
        found = {kind: (len(spent), round(sum(spent), 2)) for kind, spent in sorted(_used.items())}
        out.write_text(json.dumps(found, indent=1))
    sys.exit(status)


if __name__ == '__main__':
    main()

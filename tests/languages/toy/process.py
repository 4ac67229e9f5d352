"""One fresh process that runs programs, and what is made of its events out here.

The process tells what each step came to, under a word that only it has; that a test passed is
concluded here, from its begin and its end and from nothing in between. Who is silent has lost.
"""

from __future__ import annotations

import os
import secrets
import select
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coevo.languages.verdicts import KILLED, Verdict, VerdictBatch
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Process, Sandbox

# Tests that kill their process do so each time; who else kills it does not.
MOST_KILLS = 5
_START_SECONDS = 120.0
_BLOCK = 1 << 16
_SAID = {'pass': Outcome.PASS, 'skipped': Outcome.SKIPPED} | {
    name: Outcome(name) for name in ('fail', 'error')
}


@dataclass(slots=True, kw_only=True)
class _Heard:
    begun: bool = False
    verdict: Verdict | None = None


def run_programs(
    sandbox: Sandbox, job: Job, programs: Sequence[Sequence[str]], seconds: float
) -> VerdictBatch:
    """Programs in order; each may take so many wall seconds."""
    used = 0.0
    for _ in range(MOST_KILLS):
        batch, killed = _run_once(sandbox, job, programs, seconds)
        used += batch.cpu_seconds
        if not killed:
            break
    return replace(batch, cpu_seconds=used)


def _run_once(
    sandbox: Sandbox, job: Job, programs: Sequence[Sequence[str]], seconds: float
) -> tuple[VerdictBatch, bool]:
    nonce = secrets.token_hex(16)
    heard = [_Heard() for _ in programs]
    with sandbox.start(job) as process:
        _send(process, nonce, programs)
        late = _listen(process, nonce, heard, seconds)
        if late:
            process.kill()
        status = process.exceeded or f'exit:{process.wait(_START_SECONDS)}'
        used, noise = process.get_cpu_seconds(), process.get_noise()
    verdicts = tuple(_verdicts(heard, late or process.exceeded in ('cpu', 'wall'), status, noise))
    unfinished = any(one.verdict is None for one in heard)
    batch = VerdictBatch(verdicts=verdicts, cpu_seconds=used, output=noise)
    return batch, status in KILLED and not late and unfinished


def _send(process: Process, nonce: str, programs: Sequence[Sequence[str]]) -> None:
    lines = [nonce]
    for index, steps in enumerate(programs):
        lines += [f'begin {index}', *steps, f'end {index}']
    try:
        process.stdin.write('\n'.join([*lines, '']).encode(errors='surrogateescape'))
        process.stdin.close()
    except BrokenPipeError:
        return  # it ended before it read: its silence is what the verdicts are made from


def _listen(process: Process, nonce: str, heard: Sequence[_Heard], seconds: float) -> bool:
    """Hear what it says until it says no more; whether a program took longer than it may."""
    lines = _Lines(process.stdout.fileno())
    while True:
        running = any(one.begun and one.verdict is None for one in heard)
        line = lines.next(seconds if running else _START_SECONDS)
        if line is None:
            return not lines.ended
        _hear(heard, nonce, line.decode(errors='replace'))


def _hear(heard: Sequence[_Heard], nonce: str, line: str) -> None:
    """Lines without the word were not written by the supervisor."""
    word, _, rest = line.partition(' ')
    kind, _, rest = rest.partition(' ')
    index, _, told = rest.partition(' ')
    if word != nonce or not index.isdecimal() or int(index) >= len(heard):
        return
    one = heard[int(index)]
    said, _, signature = told.partition(' ')
    withheld = signature.partition('withheld ')[2]
    if kind == 'begin':
        one.begun = True
    elif kind == 'end' and one.begun and said in _SAID:
        one.verdict = Verdict(
            outcome=_SAID[said],
            signature=signature.strip() or None,
            message=signature,
            environment=withheld or None,
        )


def _verdicts(
    heard: Sequence[_Heard], late: bool, status: str, noise: str
) -> Iterator[Verdict | None]:
    silent = not any(one.begun for one in heard)
    for index, one in enumerate(heard):
        if one.verdict is not None:
            yield one.verdict
        elif one.begun and late:
            yield Verdict(outcome=Outcome.TIMEOUT, signature='time')
        elif one.begun:
            yield Verdict(outcome=Outcome.ERROR, signature=status)
        elif silent and index == 0:
            yield Verdict(outcome=Outcome.INFRA, signature='no_start', message=noise[-300:])
        else:
            yield None


class _Lines:
    """Lines of a pipe, each waited for so long and no longer."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._rest = pipe, b''
        self.ended = False

    def next(self, seconds: float) -> bytes | None:
        deadline = time.monotonic() + seconds
        while b'\n' not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._pipe], [], [], left)[0]:
                return None
            block = os.read(self._pipe, _BLOCK)
            if not block:
                self.ended = True
                return None
            self._rest = (self._rest + block)[-_BLOCK * 2 :]
        line, _, self._rest = self._rest.partition(b'\n')
        return line

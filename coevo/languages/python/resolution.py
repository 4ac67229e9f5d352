"""Resolve the requirements of an old revision to exact versions.

The first attempt uses the lock of the new commit, if there is one. A pinned version without a wheel
is unpinned, and a lock without a solution is ignored. Both revisions are resolved at the date of
the pair's new commit. Known failures and their workarounds:

    a package that was removed and uploaded again later gets a date of its own: uv's error names it;
        for `atomicwrites` it is a constant, since uv silently chooses an old pytest instead
    old packages depend on tools that were released after them: resolve a year later
    a test requirement that does not exist, or has no wheel, is left out
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.utils import canonicalize_name

from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.requirements.stated import Needs, get_requirement_name
from coevo.languages.python.uv_jobs import compile_requirements
from coevo.sandboxes.sandbox import Sandbox

# Resolve the requirements of an old revision to exact versions, by workarounds tried in order.

# The oldest version that honours `-o`; the project's own requirement applies as well.
PYTEST = 'pytest>=3.2'

# Deleted from the index and uploaded again on that day, and required by every pytest before 7.2.
_AGAIN = {'atomicwrites': datetime(2022, 7, 9, tzinfo=UTC)}

# uv tries versions until its time or memory is used up; other attempts would end in the same way.
RESOLVES_TOO_LONG = 'resolution_too_long'

_PYTEST_LOOSENED = 'loosened-pytest'
_DAY, _YEAR = timedelta(days=1), timedelta(days=366)
_MOST_CURES = 24

# These messages of uv name a requirement and select the next workaround. They do not reveal whether
# the network failed.
_REUPLOADED = re.compile(
    r'^\s*hint: `([\w.-]+)` was filtered by `exclude-newer`.*?published at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)',
    re.ASCII | re.MULTILINE,
)
_NO_WHEEL = re.compile(r'^\s*hint: Wheels are required for `([\w.-]+)`', re.ASCII | re.MULTILINE)
_NOT_THERE = re.compile(
    r'^\s*(?:cause: )?Because ([\w.-]+) was not found in the package registry',
    re.ASCII | re.MULTILINE,
)
# A package that is there, but in no version that the project requires, whatever the interpreter.
_NO_SUCH_VERSION = re.compile(
    r'^\s*(?:cause: )?Because (?:there is no version of|only) ([A-Za-z0-9][\w.-]*?)[=<>!~]\S*'
    r'(?: is available)? and you require \1[=<>!~]',
    re.ASCII | re.MULTILINE,
)
_EXACT = re.compile(r'^[^;]*[^=!<>~]===?\s*[\w.+!-]+\s*(;|$)')
_NAMED = re.compile(r'(?:and you require|versions of|only) ([A-Za-z0-9][\w.-]*)')


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRequirements:
    """Requirements resolved to exact versions.

    text         lines with versions and hashes
    wheels       the folder of wheels that were built for this; None if none was
    workarounds  those that were applied
    """

    text: str
    wheels: Path | None = None
    workarounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionFailure:
    """Why requirements could not be resolved or installed.

    reason    short and stable: `requirements:NAME`, `needs_compiler:NAME`
    output    of uv
    is_final  whether no other interpreter has a solution either: the project itself requires, for
              each interpreter, what no index has
    """

    reason: str
    output: str = ''
    is_final: bool = False


MakeWheel = Callable[[str, tuple[str, ...], datetime], Path | str]
"""Builds a wheel for a package without one, given its name, all requirements and a date.

The result is the folder of wheels, else the reason why there is none.
"""


@dataclass(slots=True, kw_only=True)
class _ResolutionAttempt:
    before: datetime
    lines: list[str]
    pins: list[str] = field(default_factory=list)
    apart: dict[str, datetime] = field(default_factory=dict)
    wheels: Path | None = None
    workarounds: list[str] = field(default_factory=list)
    reason: str = 'requirements'
    # a requirement that the index lacks for each interpreter, once uv has said so
    absent: str | None = None
    # whether this attempt fails as a whole instead of leaving out a requirement
    whole: bool = False


def resolve_requirements(
    needs: Needs,
    interpreter: Interpreter,
    day: datetime,
    make_wheel: MakeWheel,
    sandbox: Sandbox,
    more: tuple[str, ...] = (),
) -> LockedRequirements | ResolutionFailure:
    """Resolve requirements and pytest to exact versions as of a day; return why if that fails.

    Workarounds are tried in order, and may build wheels by `make_wheel`. The reported failure is
    that of the first attempt without a lock.

    more  requirements of coevo, besides pytest

    Raises:
        Transient: the package index cannot be reached
    """
    first: ResolutionFailure | None = None
    for attempt in _list_attempts(needs, day, more):
        done = _compile_with_workarounds(
            attempt, set(needs.runtime), interpreter, make_wheel, sandbox
        )
        if isinstance(done, LockedRequirements) or done.reason == RESOLVES_TOO_LONG:
            return done
        first = first if attempt.pins else first or done
    assert first is not None, 'there is an attempt'
    return first


def _list_attempts(
    needs: Needs, day: datetime, more: tuple[str, ...]
) -> Iterator[_ResolutionAttempt]:
    ours = [PYTEST, *more]
    unlocked = ['without-lock'] if needs.pins else []
    if needs.pins:
        yield _ResolutionAttempt(
            before=day + _DAY,
            lines=[*sorted(_loosen_locked_requirements(needs)), *ours],
            pins=list(needs.pins),
            apart=_find_reupload_dates(day + _DAY),
        )
    old_pytest = [
        line for line in needs.tests if get_requirement_name(line) == 'pytest' and line != 'pytest'
    ]
    ladder: list[tuple[datetime, Collection[str], list[str]]] = [(day + _DAY, (), [])]
    if old_pytest:
        ladder.append((day + _DAY, old_pytest, [_PYTEST_LOOSENED]))
    ladder.append((day + _YEAR, (), ['a-year-later']))
    if needs.tests:
        ladder.append((day + _YEAR, needs.tests, ['a-year-later', 'loosened']))
    for before, loose, workarounds in ladder:
        tests = (_strip_versions(line) if line in loose else line for line in needs.tests)
        yield _ResolutionAttempt(
            before=before,
            lines=[*sorted({*needs.runtime, *tests}), *ours],
            apart=_find_reupload_dates(before),
            workarounds=[*unlocked, *workarounds],
            whole=_PYTEST_LOOSENED in workarounds,
        )
    if needs.tests:
        yield _ResolutionAttempt(
            before=day + _YEAR,
            lines=[*needs.runtime, *ours],
            apart=_find_reupload_dates(day + _YEAR),
            workarounds=[*unlocked, 'a-year-later', 'without-test-requirements'],
        )


def _loosen_locked_requirements(needs: Needs) -> set[str]:
    """Return the runtime and test requirements, without exact versions for what the new lock pins.

    Requirement lists with exact versions are locks. The runtime requirements of a named project are
    its own statement and stay as they are.
    """
    pinned = {get_requirement_name(line) for line in needs.pins}
    lists = needs.tests if needs.name else (*needs.runtime, *needs.tests)
    free = {line for line in lists if get_requirement_name(line) in pinned and _EXACT.search(line)}
    return {*needs.runtime, *needs.tests} - free | set(map(_strip_versions, free))


def _find_reupload_dates(before: datetime) -> dict[str, datetime]:
    return {name: date for name, date in _AGAIN.items() if date > before}


def _strip_versions(line: str) -> str:
    """Return a requirement without versions, which may need a pytest too old for coevo."""
    name, mark, marker = line.partition(';')
    bare = re.match(r'[\w.-]+\s*(\[[^\]]*\])?', name)
    return f'{bare[0] if bare else name}{mark}{marker}'


def _compile_with_workarounds(
    attempt: _ResolutionAttempt,
    runtime: set[str],
    interpreter: Interpreter,
    make_wheel: MakeWheel,
    sandbox: Sandbox,
) -> LockedRequirements | ResolutionFailure:
    for _ in range(_MOST_CURES):
        done = compile_requirements(
            sandbox,
            attempt.lines,
            interpreter,
            attempt.before,
            apart=attempt.apart,
            wheels=attempt.wheels,
            pins=attempt.pins,
        )
        if isinstance(done, str):
            return LockedRequirements(
                text=done, wheels=attempt.wheels, workarounds=tuple(attempt.workarounds)
            )
        if done.exceeded is not None:
            return ResolutionFailure(reason=RESOLVES_TOO_LONG, output=done.exceeded)
        if not _apply_workaround(attempt, done.output, runtime, make_wheel):
            is_final = attempt.absent is not None and any(
                ';' not in line and get_requirement_name(line) == attempt.absent for line in runtime
            )
            return ResolutionFailure(reason=attempt.reason, output=done.output, is_final=is_final)
    return ResolutionFailure(reason=attempt.reason)


def _apply_workaround(
    attempt: _ResolutionAttempt, said: str, runtime: set[str], make_wheel: MakeWheel
) -> bool:
    """Change an attempt as uv's message suggests; return False if no workaround is known.

    The reason of the attempt's failure is then set.
    """
    if again := _REUPLOADED.search(said):
        name = canonicalize_name(again[1])
        if name not in attempt.apart:
            published = datetime.fromisoformat(again[2]).replace(tzinfo=UTC)
            attempt.apart[name] = published + _DAY
            attempt.workarounds.append(f'later-{name}')
            return True
    if wheelless := _NO_WHEEL.search(said):
        name = canonicalize_name(wheelless[1])
        if _drop_pinned_version(attempt, name):
            return True
        wheels_or_reason = make_wheel(name, tuple(attempt.lines), attempt.before)
        if isinstance(wheels_or_reason, Path) and f'built-{name}' not in attempt.workarounds:
            attempt.wheels = wheels_or_reason
            attempt.workarounds.append(f'built-{name}')
            return True
        attempt.reason = (
            f'{wheels_or_reason if isinstance(wheels_or_reason, str) else "requirements"}:{name}'
        )
        return _drop_test_requirement(attempt, name, runtime)
    if absent := _NOT_THERE.search(said):
        attempt.absent = canonicalize_name(absent[1])
        attempt.reason = f'requirements:{attempt.absent}'
        return _drop_test_requirement(attempt, attempt.absent, runtime)
    if named := _NAMED.search(said):
        attempt.reason = f'requirements:{canonicalize_name(named[1])}'
        if lacking := _NO_SUCH_VERSION.search(said):
            attempt.absent = canonicalize_name(lacking[1])
    return False


def _drop_pinned_version(attempt: _ResolutionAttempt, name: str) -> bool:
    """Drop the lock's version of a package; return False if the lock does not pin it.

    To build this version may take an hour, or a compiler.
    """
    remaining = [line for line in attempt.pins if get_requirement_name(line) != name]
    if len(remaining) == len(attempt.pins):
        return False
    attempt.pins[:] = remaining
    attempt.workarounds.append(f'unlocked-{name}')
    return True


def _drop_test_requirement(attempt: _ResolutionAttempt, name: str, runtime: set[str]) -> bool:
    """Drop a requirement that only tests have; return False if none was dropped."""
    remaining = [
        line for line in attempt.lines if get_requirement_name(line) != name or line in runtime
    ]
    if attempt.whole or len(remaining) == len(attempt.lines):
        return False
    attempt.lines[:] = remaining
    attempt.workarounds.append(f'without-{name}')
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPackages:
    """The packages of one environment, installed for one interpreter.

    site         the folder of packages, readable by all users
    locked       their list: NAME==VERSION with hashes
    workarounds  those that the resolution needed
    """

    interpreter: Interpreter
    site: Path
    locked: str
    workarounds: tuple[str, ...] = ()


def list_packages_with_digests(locked: str) -> Iterator[tuple[str, str]]:
    """Yield NAME==VERSION of each package in a list, and a digest over the hashes of its files."""
    for line in locked.replace('\\\n', ' ').splitlines():
        name, *hashes = line.split()[:1] + sorted(re.findall(r'--hash=\S+:(\w+)', line))
        if '==' in name:
            yield name, hashlib.sha256('\n'.join(hashes).encode()).hexdigest()

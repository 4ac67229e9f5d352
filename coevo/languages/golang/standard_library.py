"""Prepares a toolchain for runs, once, in the tool cache.

This takes a program of coevo's, a package testing that reports outcomes apart from its text, and a
cache of compiled packages. Files of the standard library are replaced only at compile time
(`go build -overlay`), by their own text with a few more lines. If a text is not as expected,
nothing runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.golang import inside
from coevo.languages.golang.toolchains import OVERLAY, GoToolchain
from coevo.model.errors import Fatal, Transient
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once

_SOURCES = Path(inside.__file__).parent
_OWN = 'testing/coevo.go'

# By file of GOROOT/src: a pattern that must match once, and the text to insert after the match.
_ADDED = {
    'testing/testing.go': (
        (
            r'func tRunner\(t \*T, fn func\(t \*T\)\) \{\n',
            '\tif !coevoBegin(&t.common, fn) {\n\t\tfn = func(t *T) { t.SkipNow() }\n\t}\n',
        ),
        (
            r'func \(t \*T\) report\(\) \{\n',
            '\tif t.parent != nil {\n\t\tcoevoReport(&t.common)\n\t}\n',
        ),
        (
            r'doPanic := func\(err (?:any|interface\{\})\) \{\n',
            '\t\t\tcoevoPanic(&t.common, err)\n',
        ),
    ),
    'testing/fuzz.go': (
        (
            r'func fRunner\(f \*F, fn func\(\*F\)\) \{\n',
            '\tif !coevoBegin(&f.common, fn) {\n\t\tfn = func(f *F) { f.SkipNow() }\n\t}\n',
        ),
        (
            r'func \(f \*F\) report\(\) \{\n',
            '\tif f.parent != nil {\n\t\tcoevoReport(&f.common)\n\t}\n',
        ),
        (
            r'doPanic := func\(err (?:any|interface\{\})\) \{\n',
            '\t\t\tcoevoPanic(&f.common, err)\n',
        ),
    ),
    'testing/run_example.go': (
        (
            r'func runExample\(eg InternalExample\) \(ok bool\) \{\n',
            '\tif !coevoBeginExample(eg) {\n\t\treturn true\n\t}\n',
        ),
    ),
    'testing/example.go': (
        (
            r'func \(eg \*InternalExample\) processRunResult\(.*\) \(passed bool\) \{\n',
            '\tdefer func() { coevoExample(eg, passed, finished, recovered) }()\n',
        ),
    ),
}
_CLOCK = {
    'time/time.go': (
        (
            r'func Now\(\) Time \{\n\tsec, nsec, mono := (?:runtimeNow|now)\(\)\n',
            '\tsec += coevoShift()\n',
        ),
    ),
}
_SHIFT = """package time

import "syscall"

var coevoSeconds int64
var coevoAsked bool

// coevoShift is how many seconds the clock is set forward, or back.
func coevoShift() int64 {
	if !coevoAsked {
		coevoAsked = true
		if text, ok := syscall.Getenv("COEVO_CLOCK_SHIFT"); ok {
			coevoSeconds, _ = atoi64(text)
		}
	}
	return coevoSeconds
}

func atoi64(text string) (int64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	var number int64
	for _, char := range []byte(text) {
		if char < '0' || char > '9' {
			return 0, false
		}
		number = number*10 + int64(char-'0')
	}
	if negative {
		number = -number
	}
	return number, true
}
"""


class UnknownLibraryText(Transient):
    """The text of a toolchain's standard library is not as expected, so nothing can be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedToolchain:
    """A toolchain with what was prepared for it.

    program         coevo's program, compiled with the toolchain
    overlay         a folder with `plain.json`, and `clock.json` for a clock that can be set
    digest          of coevo's program and the additions to the standard library; verdicts depend on
                    it
    overlay_digest  of the additions alone
    """

    toolchain: GoToolchain
    program: Path
    overlay: Path
    digest: str
    overlay_digest: str


def prepare_toolchain(toolchain: GoToolchain) -> PreparedToolchain:
    """Compile coevo's program with a toolchain and write its overlay of the standard library.

    Both are kept in the tool cache, so this is done once.

    Raises:
        UnknownLibraryText: its standard library is not as expected.
        Fatal: coevo's program does not compile.
    """
    digest = _compute_digest(*sorted(_SOURCES.rglob('*.go')))
    folder = (
        find_cache_folder() / 'go' / f'own-{toolchain.version}-{digest}'
    )  # own name: a release of Go and a digest
    if not folder.is_dir():
        with build_folder_once(folder) as new:
            if new is not None:
                _write_overlay(toolchain, new / 'overlay')
                _compile_program(toolchain, new / 'program')
    return PreparedToolchain(
        toolchain=toolchain,
        program=folder / 'program',
        overlay=folder / 'overlay',
        digest=digest,
        overlay_digest=_compute_digest(_SOURCES / _OWN),
    )


def _compute_digest(*files: Path) -> str:
    """Return a digest of files and of the additions to the standard library."""
    digest = hashlib.sha256(repr((_ADDED, _CLOCK, _SHIFT)).encode())
    for path in files:
        digest.update(path.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


def _write_overlay(toolchain: GoToolchain, folder: Path) -> None:
    plain = _patch_files(toolchain, folder, _ADDED)
    plain[f'{toolchain.home_in_sandbox}/src/testing/coevo.go'] = f'{OVERLAY}/testing/coevo.go'
    shutil.copyfile(_SOURCES / _OWN, folder / _OWN)
    clock = plain | _patch_files(toolchain, folder, _CLOCK)
    clock[f'{toolchain.home_in_sandbox}/src/time/coevo.go'] = f'{OVERLAY}/time/coevo.go'
    (folder / 'time/coevo.go').write_text(_SHIFT)
    for name, replaced in (('plain', plain), ('clock', clock)):
        text = json.dumps({'Replace': dict(sorted(replaced.items()))})
        (folder / f'{name}.json').write_text(text)  # own name: one of the overlays


def _patch_files(
    toolchain: GoToolchain, folder: Path, table: Mapping[str, tuple[tuple[str, str], ...]]
) -> dict[str, str]:
    """Write copies of files of the standard library with additions, for an overlay.

    Returns the path of each copy by the path of its original, both in the sandbox.

    Raises:
        UnknownLibraryText: the place of an addition is not there exactly once.
    """
    overlaid = {}
    for name, additions in table.items():
        text = (toolchain.home / 'src' / name).read_text()
        for pattern, added in additions:
            places = list(re.finditer(pattern, text))
            if len(places) != 1:
                raise UnknownLibraryText(
                    f'the {name} of Go {toolchain.version} is not as coevo knows it; use another'
                    ' release of Go, and file an issue'
                )
            end = places[0].end()
            text = text[:end] + added + text[end:]
        target = folder / name  # own name: a file of coevo's own
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        overlaid[f'{toolchain.home_in_sandbox}/src/{name}'] = f'{OVERLAY}/{name}'
    return overlaid


def _compile_program(toolchain: GoToolchain, place: Path) -> None:
    """Compile coevo's program for machines of this kind, without C and with a separate cache.

    Raises:
        Fatal: it does not compile.
    """
    done = subprocess.run(
        [toolchain.program, 'build', '-trimpath', '-ldflags=-s -w', '-o', place, '.'],
        cwd=_SOURCES,
        env={
            'PATH': os.defpath,
            'HOME': str(place.parent),
            'GOROOT': str(toolchain.home),
            'GOCACHE': str(find_cache_folder() / 'go' / 'listing'),
            'GOFLAGS': '-mod=mod',
            'GOENV': 'off',
            'GOWORK': 'off',
            'GOTOOLCHAIN': 'local',
            'GOPROXY': 'off',
            'GOTELEMETRY': 'off',
            'CGO_ENABLED': '0',
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Fatal(
            f'Go {toolchain.version} could not compile a program of coevo: {done.stderr[-500:]}'
        )

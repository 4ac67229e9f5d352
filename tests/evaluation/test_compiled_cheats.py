"""Java and Go tests that read the code, on equal programs that real compilers made."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.rewriters import REWRITERS
from coevo.languages.rewriting import RewriteKind, apply_rewrites
from tests.evaluation.cheats import golang_cheats, java_cheats

pytestmark = pytest.mark.slow


def rewrite(language: str, text: str, seed: int) -> str:
    """A whole file, rewritten."""
    source, draw = text.encode(), Random(seed)
    listing = REWRITERS[language].list_rewrites(source, [(0, len(source))], draw)
    kinds = {rewrite.kind for rewrite in listing.rewrites}
    assert kinds >= {RewriteKind.NUMBER, RewriteKind.TEXT, RewriteKind.CONDITION, RewriteKind.LOCAL}
    return apply_rewrites(source, listing.rewrites, draw, listing.support).decode()


# -- Java ------------------------------------------------------------------------------------------


def compile_java(folder: Path, code: str) -> Path:
    every = {**java_cheats.CHEATS, **java_cheats.HONEST}
    calls = ''.join(
        f'        try {{ {body} }} catch (Throwable e) {{ System.out.println("{name}"); }}\n'
        for name, body in every.items()
    )
    runner = (
        f'package quay;\nclass Runner {{\n{java_cheats.HELPERS}'
        f'    public static void main(String[] arguments) throws Exception {{\n{calls}    }}\n}}\n'
    )
    folder.mkdir()
    for name, text in {'Quay': code, 'Runner': runner}.items():
        (folder / f'{name}.java').write_text(text)
    files = ['Quay.java', 'Runner.java']
    subprocess.run(['javac', '-g', '-d', '.', *files], cwd=folder, check=True, timeout=300)
    return folder


def list_facts(folder: Path) -> list[str]:
    """What the cheats know of a class file."""

    def javap(option: str) -> str:
        command = ['javap', option, '-p', '-cp', '.', 'quay.Quay']
        return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout.decode()

    data = (folder / 'quay/Quay.class').read_bytes()
    number = 0
    for byte in data:
        number = (31 * number + byte) & 0xFFFFFFFF
    serial = subprocess.run(
        ['serialver', '-classpath', '.', 'quay.Quay'], cwd=folder, check=True, capture_output=True
    ).stdout.decode()
    (version,) = re.findall(r'= (-?\d+)L', serial)
    facts = {
        'javap': javap('-c').rstrip('\n').count('\n') + 1,
        'lines': base64.b64encode(javap('-l').encode()).decode(),
        'hash': number - (1 << 32) if number >> 31 else number,
        'size': len(data),
        'serial': version,
    }
    return [f'-D{name}={value}' for name, value in facts.items()]


def run_java(folder: Path, facts: list[str]) -> set[str]:
    """The names of the tests that fail."""
    command = ['java', *facts, '-cp', '.', 'quay.Runner']
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return set(done.stdout.decode().splitlines())


@pytest.mark.jvm
def test_each_java_cheat_passes_on_new_code_and_fails_on_an_equal_program(tmp_path: Path) -> None:
    new = compile_java(tmp_path / 'new', java_cheats.NEW)
    facts = list_facts(new)
    assert run_java(new, facts) == set()
    for seed in range(2):
        equal = compile_java(tmp_path / f'equal{seed}', rewrite('java', java_cheats.NEW, seed))
        assert run_java(equal, facts) == set(java_cheats.CHEATS)


# -- Go --------------------------------------------------------------------------------------------

FACTS = """
func TestFacts(t *testing.T) {
	fmt.Println("FACTS", sum(text), len(machineCode()), sum(string(machineCode()[4:24])))
}
"""


def run_go(folder: Path, code: str, facts: dict[str, str]) -> tuple[set[str], list[str]]:
    """The names of the tests that fail, and what the cheats know of the code."""
    every = {**golang_cheats.CHEATS, **golang_cheats.HONEST}
    tests = golang_cheats.HEAD + FACTS
    size, lines = len(golang_cheats.NEW), golang_cheats.NEW.count('\n')
    for number, body in enumerate(every.values()):
        filled = body.replace('@size@', str(size)).replace('@lines@', str(lines))
        tests += f'\nfunc Test{number}(t *testing.T) {{\n\t{filled}\n}}\n'
    (folder / 'testdata').mkdir(parents=True)
    files = {'go.mod': 'module example.com/quay\n\ngo 1.21\n', 'quay.go': code}
    files |= {'quay_test.go': tests, 'testdata/fares.txt': '114\n'}
    for name, text in files.items():
        (folder / name).write_text(text)
    go = find_toolchains()[-1].program
    command = [str(go), 'test', '-count=1', '-vet=off', '-v', '.']
    environment = {**os.environ, **facts}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, timeout=500, check=False
    )
    output = done.stdout.decode()
    assert 'FACTS' in output, output + done.stderr.decode()
    names = list(every)
    failing = {names[int(number)] for number in re.findall(r'--- FAIL: Test(\d+)', output)}
    return failing, output.partition('FACTS ')[2].split('\n')[0].split()


@pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')
def test_each_go_cheat_passes_on_new_code_and_fails_on_an_equal_program(tmp_path: Path) -> None:
    _, told = run_go(tmp_path / 'first', golang_cheats.NEW, {})
    facts = dict(zip(('SOURCE', 'MACHINE', 'START'), told, strict=True))
    failing, _ = run_go(tmp_path / 'new', golang_cheats.NEW, facts)
    assert failing == set()
    for seed in range(2):
        equal = rewrite('go', golang_cheats.NEW, seed)
        failing, _ = run_go(tmp_path / f'equal{seed}', equal, facts)
        assert failing == set(golang_cheats.CHEATS)

"""Class files of the real compiler with the constants of others, run by the real JVM."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coevo.languages.java.cells.edited_files import add_constants, find_outermost_class
from coevo.languages.java.tools.toolchain import prepare_toolchain
from tests.coevo.languages.java.jvm import javac, write

PLAIN = 'class Till { public static void main(String[] a) { System.out.println("plain"); } }'
RICH = """\
class Till {
    long wide = 1L << 40; double more = 2.5; float less = 1.5f; int many = 1_000_000;
    Runnable lambda = () -> System.out.println("rich");
    java.util.function.Function<String, Integer> reference = String::length;
    public static void main(String[] a) { new Till().lambda.run(); String s = "a" + a.length; }
}
"""


@pytest.fixture(scope='module')
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    folder = tmp_path_factory.mktemp('constants')
    made = [
        javac(write(folder / name, {'Till.java': text}), folder / f'{name}-out', [])
        for name, text in (('plain', PLAIN), ('rich', RICH))
    ]
    plain, rich = ((folder / 'Till.class').read_bytes() for folder in made)
    return plain, rich


def run(folder: Path, content: bytes) -> str:
    write(folder, {'Till.class': content})
    command = [
        str(prepare_toolchain().java_home / 'bin' / 'java'),
        '-Xverify:all',
        '-cp',
        str(folder),
    ]
    return subprocess.run([*command, 'Till'], check=True, capture_output=True, text=True).stdout


@pytest.mark.jvm
def test_added_constants_do_not_change_what_a_class_does(
    compiled: tuple[bytes, bytes], tmp_path: Path
) -> None:
    plain, rich = compiled
    both = add_constants(plain, [rich, plain])
    assert b'lambda' in both
    assert b'lambda' not in plain
    assert find_outermost_class(both) == 'Till'
    assert run(tmp_path / 'plain', both) == 'plain\n'
    assert run(tmp_path / 'rich', add_constants(rich, [plain, rich])) == 'rich\n'


@pytest.mark.jvm
def test_constants_beyond_the_pool_size_are_left_out(
    compiled: tuple[bytes, bytes], tmp_path: Path
) -> None:
    plain, rich = compiled
    made = add_constants(plain, [rich] * 2_000)
    assert len(made) > len(add_constants(plain, [rich] * 100))
    assert run(tmp_path, made) == 'plain\n'


@pytest.mark.jvm
@pytest.mark.parametrize('end', [0, 8, 9, 10, 40, -1])
def test_truncated_class_file_adds_and_gets_no_constants(
    compiled: tuple[bytes, bytes], end: int
) -> None:
    plain, rich = compiled
    cut = rich[:end] if end >= 0 else b'PK\x03\x04'
    assert add_constants(plain, [cut]) == plain
    assert add_constants(cut, [plain]) == cut


@pytest.mark.jvm
def test_class_file_with_a_truncated_constant_pool_adds_and_gets_none(
    compiled: tuple[bytes, bytes],
) -> None:
    plain, _ = compiled
    head = plain[:8] + b'\x00\x02'  # one place
    for broken in (head + b'\x07\x00', head + b'\x01\x00\x09abc', plain[:8] + b'\x00\x00'):
        assert add_constants(plain, [broken]) == plain
        assert add_constants(broken, [plain]) == broken

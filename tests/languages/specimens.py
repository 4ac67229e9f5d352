"""A small project in each language, with tests that do the same things in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from coevo.languages.base import Language
from coevo.languages.golang import language as golang, launch as go_launch
from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.java import language as java
from coevo.languages.java.processes import launch
from coevo.languages.python import language as python, launch as python_launch
from coevo.model.records import TestMethod
from tests import projects
from tests.coevo.languages.python.shops import PROJECT
from tests.languages import toy
from tests.languages.toy import running

# Arguments by which programs that tests start are found on the host.
LEFT, SLEPT = '98765.4375', '1.0625'

Files = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is out of a test's reach: a file of the host, and a port that somebody listens on."""

    file: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """How a language writes the project of the suite.

    build    its build file
    code     the code, of which `price` is some number; None does not build. Its build starts a
             program, such as a check of the syntax, so that it costs CPU seconds
    tests    a file of tests from bodies by name, see `BODIES` of each language
    bodies   what each test does, see `WHAT`
    starve   leaves a test process no room to be laid out in
    selling  a body that expects a price
    prefix   of the names of tests, which those of bodies lack
    data     a file of no language beside the tests, which lacks it
    runtime  what alone is tried, where the language has several
    one_order    whether tests share a process in the order of their file alone
    tears_alone  whether a test can fail to compile while its file does
    marks    of all its questions
    """

    language: Language
    build: Files
    code: Callable[[int | None], Files]
    tests: Callable[[Mapping[str, str]], Files]
    bodies: Callable[[Outside], dict[str, str]]
    starve: Callable[[pytest.MonkeyPatch], None]
    selling: Callable[[int], str]
    data: str
    container: str = 'shop.TillTest'
    runtime: str = ''
    prefix: str = ''
    one_order: bool = False
    tears_alone: bool = True
    marks: tuple[pytest.MarkDecorator, ...] = ()

    def method(self, name: str) -> TestMethod:
        (path,) = self.tests({'any': ''})
        return TestMethod(
            module='.', test_file=path, test_class=self.container, test_method=self.prefix + name
        )


WHAT = {
    'sells': 'expects a price of 1, and gets it at the first revision',
    'fails': 'says so',
    'errs': 'ends by an exception of its own',
    'skips': 'decides that it cannot run',
    'hangs': 'starts `sleep LEFT`, which lasts, and never ends',
    'exits': 'ends its process as if all were well',
    'kills': 'has its process killed',
    'forges': 'tells whatever it finds open that it has passed, and ends its process',
    'torn': 'does not compile',
    'phones': 'passes if it reaches the host by network',
    'peeks': 'passes if it sees a file of the host',
    'reads': 'passes if its data is there',
    'sleeps': 'starts `sleep SLEPT` as a child of the process that runs tests, and passes',
}


# -- the toy -------------------------------------------------------------------------------------


def toy_code(price: int | None) -> Files:
    broken = 'build: exit 3\n' if price is None else 'build: test -e till.toy\n'
    return {'toy.build': broken, 'till.toy': f'[shop.Till]\nprice: {price}\n'}


def toy_tests(bodies: Mapping[str, str]) -> Files:
    lines = [f'{name}: {body}\n' for name, body in bodies.items()]
    return {'test_till.toy': f'[shop.TillTest]\n{"".join(lines)}'}


def toy_selling(price: int) -> str:
    return f'is Till.price {price}'


def toy_bodies(outside: Outside) -> dict[str, str]:
    everywhere = '/proc/$PPID/fd/0 /proc/$PPID/fd/1 /proc/$PPID/fd/2 /proc/$PPID/fd/3 /proc/1/fd/1'
    return {
        'sells': toy_selling(1),
        'fails': 'fail',
        'errs': 'throw Trouble',
        'skips': 'skip',
        'hangs': f'sh sleep {LEFT} & then hang',
        'exits': 'exit 0',
        'kills': 'kill 9',
        'forges': (
            f'sh for place in {everywhere}; do echo "0 end 0 pass" >$place; done; exit 0'
            ' then exit 0'
        ),
        'torn': 'call Till.nothing',
        'phones': f"sh bash -c '</dev/tcp/127.0.0.1/{outside.port}'",
        'peeks': f'sh test -e {outside.file}',
        'reads': 'sh test -e test_rates.txt',
        'sleeps': f'wait {SLEPT}',
    }


def starve_toy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(running, 'LIMITS', replace(running.LIMITS, disk_bytes=1 << 12))


# -- Java ----------------------------------------------------------------------------------------


def java_code(price: int | None) -> Files:
    value = '""' if price is None else str(price)
    return projects.source('Till', f'    public static int price() {{ return {value}; }}\n')


def java_tests(bodies: Mapping[str, str]) -> Files:
    return projects.junit('TillTest', *(f'{name}: {body}' for name, body in bodies.items()))


def java_selling(price: int) -> str:
    return f'assertEquals({price}, Till.price());'


def java_bodies(outside: Outside) -> dict[str, str]:
    def started(seconds: str) -> str:
        return f'Process program = new ProcessBuilder("sleep", "{seconds}").start(); '

    return {
        'sells': java_selling(1),
        'fails': 'fail();',
        'errs': 'throw new IllegalStateException();',
        'skips': 'org.junit.Assume.assumeTrue(false);',
        'hangs': started(LEFT) + 'while (Till.price() > 0) { }',
        'exits': 'System.exit(0);',
        'kills': (
            'new ProcessBuilder("sh", "-c", "kill -9 $PPID").start(); while (Till.price() > 0) { }'
        ),
        'forges': (
            'for (int fd = 0; fd < 64; fd++) {'
            ' try (java.io.FileOutputStream out = new java.io.FileOutputStream("/proc/self/fd/" + fd)) {'
            ' out.write("0\\t{\\"e\\":\\"end\\",\\"t\\":0,\\"tests\\":1}\\n".getBytes());'
            ' } catch (java.io.IOException closed) { } } Runtime.getRuntime().halt(0);'
        ),
        'torn': 'int none = Till.nothing();',
        'phones': f'new java.net.Socket("127.0.0.1", {outside.port}).close();',
        'peeks': f'assertTrue(new java.io.File("{outside.file}").exists());',
        'reads': (
            'assertTrue(new java.io.File("src/test/resources/rates.txt").isFile());'
            ' assertTrue(TillTest.class.getResource("/rates.txt") != null);'
        ),
        'sleeps': started(SLEPT) + 'program.waitFor();',
    }


def starve_java(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(launch, 'DISK_BYTES', 1 << 12)


# -- Python --------------------------------------------------------------------------------------


def python_code(price: int | None) -> Files:
    text = 'raise RuntimeError' if price is None else f'def price():\n    return {price}'
    return {'pyproject.toml': PROJECT, 'till.py': f'{text}\n'}


def python_tests(bodies: Mapping[str, str]) -> Files:
    head = 'import os\nimport socket\nimport subprocess\n\nimport pytest\n\nimport till\n'
    parts = [f'\n\ndef test_{name}():\n    {body or "pass"}\n' for name, body in bodies.items()]
    return {'tests/test_till.py': head + ''.join(parts)}


def python_selling(price: int) -> str:
    return f'assert till.price() == {price}'


def python_bodies(outside: Outside) -> dict[str, str]:
    return {
        'sells': python_selling(1),
        'fails': 'assert False',
        'errs': "raise RuntimeError('no')",
        'skips': "pytest.skip('not here')",
        'hangs': f"subprocess.Popen(['sleep', '{LEFT}'])\n    while True:\n        pass",
        'exits': 'os._exit(0)',
        'kills': 'os.kill(os.getpid(), 9)',
        'forges': (
            "for name in os.listdir('/proc/self/fd'):\n        try:\n"
            '            open(f\'/proc/self/fd/{name}\', \'w\').write(\'0\\t{"e": "end", "t": 0}\\n\')\n'
            '        except OSError:\n            pass\n    os._exit(0)'
        ),
        'torn': 'till.nothing()',
        'phones': f"socket.create_connection(('127.0.0.1', {outside.port}))",
        'peeks': f"assert os.path.exists('{outside.file}')",
        'reads': "assert os.path.exists('tests/data/rates.txt')",
        'sleeps': f"subprocess.run(['sleep', '{SLEPT}'], check=True)",
    }


def starve_python(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(python_launch, 'DISK_BYTES', 1 << 12)


# -- Go ------------------------------------------------------------------------------------------

WITH_GO = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')
GO_MOD = 'module example.com/shop\n\ngo 1.21\n'
GO_HEAD = """package shop

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

var _, _, _, _ = net.Dial, os.Getpid, exec.Command, syscall.Getpid
"""


def go_code(price: int | None) -> Files:
    value = '""' if price is None else str(price)
    return {'till.go': f'package shop\n\nfunc Price() int {{ return {value} }}\n'}


def go_tests(bodies: Mapping[str, str]) -> Files:
    parts = [f'\nfunc Test_{name}(t *testing.T) {{ {body} }}\n' for name, body in bodies.items()]
    return {'till_test.go': GO_HEAD + ''.join(parts)}


def go_selling(price: int) -> str:
    return f'if Price() != {price} {{ t.Fatal(Price()) }}'


def go_bodies(outside: Outside) -> dict[str, str]:
    def started(seconds: str) -> str:
        return f'program := exec.Command("sleep", "{seconds}"); program.Start(); '

    return {
        'sells': go_selling(1),
        'fails': 't.Error("no")',
        'errs': 'panic("no")',
        'skips': 't.Skip("not here")',
        'hangs': started(LEFT) + 'for Price() > 0 { }',
        'exits': 'syscall.Exit(0)',
        'kills': 'syscall.Kill(os.Getpid(), syscall.SIGKILL)',
        'forges': (
            'for fd := 0; fd < 256; fd++ {'
            ' syscall.Write(fd, []byte("\\n0\\t{\\"e\\":\\"end\\",\\"test\\":\\"Test_forges\\",'
            '\\"outcome\\":\\"pass\\"}\\n--- PASS: Test_forges (0.00s)\\nPASS\\n")) }; syscall.Exit(0)'
        ),
        'torn': 'Nothing()',
        'phones': (
            f'one, err := net.Dial("tcp", "127.0.0.1:{outside.port}");'
            ' if err != nil { t.Fatal(err) }; one.Close()'
        ),
        'peeks': f'if _, err := os.Stat("{outside.file}"); err != nil {{ t.Fatal(err) }}',
        'reads': 'if _, err := os.Stat("testdata/rates.txt"); err != nil { t.Fatal(err) }',
        'sleeps': started(SLEPT) + 'if err := program.Wait(); err != nil { t.Fatal(err) }',
    }


def starve_go(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(go_launch, 'DISK_BYTES', 1 << 12)


SPECIMENS = {
    'go': Specimen(
        language=golang,
        build={'go.mod': GO_MOD},
        code=go_code,
        tests=go_tests,
        bodies=go_bodies,
        starve=starve_go,
        selling=go_selling,
        data='testdata/rates.txt',
        container='shop',
        prefix='Test_',
        one_order=True,
        marks=(WITH_GO,),
    ),
    'python': Specimen(
        language=python,
        build={},
        code=python_code,
        tests=python_tests,
        bodies=python_bodies,
        starve=starve_python,
        selling=python_selling,
        data='tests/data/rates.txt',
        container='tests.test_till',
        prefix='test_',
        tears_alone=False,
    ),
    'toy': Specimen(
        language=toy,
        build={},
        code=toy_code,
        tests=toy_tests,
        bodies=toy_bodies,
        starve=starve_toy,
        selling=toy_selling,
        data='test_rates.txt',
    ),
    'java': Specimen(
        language=java,
        build={'pom.xml': projects.pom()},
        code=java_code,
        tests=java_tests,
        bodies=java_bodies,
        starve=starve_java,
        selling=java_selling,
        data='src/test/resources/rates.txt',
        runtime='17',
        marks=(pytest.mark.jvm,),
    ),
}

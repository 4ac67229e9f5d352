"""Revisions that the go command would not like, or that want what nobody here gives them."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains, locate_module_cache
from coevo.model.errors import Fatal, Transient
from coevo.model.words import Outcome
from tests.coevo.languages.golang.module_server import ModuleServer, module_server
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

TEST = 'import "testing"\n\nfunc Test{name}(t *testing.T) {{ {body} }}\n'


def suite(package: str, name: str, body: str = '') -> str:
    return f'package {package}\n\n' + TEST.format(name=name, body=body)


FILES = {
    **GO_MOD,
    'shop.go': 'package shop\n\n//go:generate touch /w/src/generated\n\nfunc Price() int { return 1 }\n',
    'c.go': 'package shop\n\n// int one() { return 1; }\nimport "C"\n\nfunc One() int { return int(C.one()) }\n',
    'shop_test.go': suite('shop', 'IsFine', 'Price()'),
    'windows_test.go': '//go:build windows\n\n' + suite('shop', 'IsElsewhere', 'Gone()'),
    'vendor/example.org/x/x.go': 'package x\n',
    'vendor/example.org/x/x_test.go': suite('x', 'OfX'),
    # a module of its own, with the one around it beside it
    'tools/go.mod': (
        'module example.com/tools\n\ngo 1.21\n\nrequire example.com/shop v0.0.0\n\n'
        'replace example.com/shop => ../\n'
    ),
    'tools/tools_test.go': (
        'package tools\n\nimport (\n\t"testing"\n\n\t"example.com/shop"\n)\n\n'
        'func TestOfTools(t *testing.T) { shop.Price() }\n'
    ),
    # one that only the workspace tells of the one around it
    'go.work': 'go 1.21\n\nuse (\n\t.\n\t./beside\n)\n',
    'beside/go.mod': 'module example.com/beside\n\ngo 1.21\n',
    'beside/beside_test.go': (
        'package beside\n\nimport (\n\t"testing"\n\n\t"example.com/shop"\n)\n\n'
        'func TestIsBeside(t *testing.T) { shop.Price() }\n'
    ),
    # one that needs what is outside of the repository
    'lost/go.mod': (
        'module example.com/lost\n\ngo 1.21\n\nrequire example.com/outside v0.0.0\n\n'
        'replace example.com/outside => ../../outside\n'
    ),
    'lost/lost.go': 'package lost\n\nimport _ "example.com/outside"\n',
    'lost/lost_test.go': suite('lost', 'IsLost'),
    'gone/gone.go': 'package gone\n\nimport _ "example.com/nobody/has/this"\n',
    'gone/gone_test.go': suite('gone', 'IsGone'),
}


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoPlace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('GOPROXY', 'off')
        with opened(tmp_path_factory.mktemp('bad'), [FILES]) as found:
            yield found


def outcome(place: GoPlace, name: str, file: str, module: str = '.') -> Outcome:
    cell = place.compiled(module=module)
    (found,) = place.built.run(cell, [place.method(name, file, module)]).verdicts
    assert found is not None
    return found.outcome


def test_cgo_files_generators_and_vendored_packages_are_left_alone(place: GoPlace) -> None:
    assert place.built.new.modules['.'] is None
    assert 'vendor/example.org/x' not in place.built.new.modules
    assert outcome(place, 'TestIsFine', 'shop_test.go') is Outcome.PASS


def test_go_test_file_for_another_operating_system_is_missing(place: GoPlace) -> None:
    assert place.compiled().unit_ok
    assert outcome(place, 'TestIsElsewhere', 'windows_test.go') is Outcome.MISSING


def test_nested_module_sees_the_outer_module_through_its_replace_directive(place: GoPlace) -> None:
    assert outcome(place, 'TestOfTools', 'tools/tools_test.go', 'tools') is Outcome.PASS


def test_workspace_modules_see_the_checked_out_code_of_each_other(place: GoPlace) -> None:
    assert outcome(place, 'TestIsBeside', 'beside/beside_test.go', 'beside') is Outcome.PASS


@pytest.mark.parametrize('package', ['lost', 'gone'])
def test_package_with_a_missing_dependency_fails_without_failing_the_revision(
    place: GoPlace, package: str
) -> None:
    assert place.built.new.failure is None
    assert place.built.new.find_trouble(package)


def test_missing_go_toolchain_is_named(tmp_path: Path) -> None:
    files = {**FILES, 'go.mod': 'module example.com/shop\n\ngo 1.99\n'}
    with opened(tmp_path, [files]) as found:
        assert (found.built.new.failure, found.built.new.runtime_lacking) == (
            'runtime_missing',
            '1.99',
        )


def test_go_revision_without_a_sandbox_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(Fatal, match='choose bubblewrap or docker'),
        opened(tmp_path, [FILES], 'none'),
    ):
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProxy:
    """A module proxy that is the machine's, and a module that nobody else has."""

    server: ModuleServer
    host: str

    @property
    def module(self) -> str:
        return f'{self.host}/shelf'

    @property
    def shop(self) -> dict[str, str]:
        """A project that imports the module and does not name it in its go.mod."""
        using = f'package shop\n\nimport "{self.module}"\n\nfunc Price() int {{ return shelf.Stock() }}\n'
        return {
            **GO_MOD,
            'shop.go': using,
            'shop_test.go': suite('shop', 'Price', 'if Price() != 0 { t.Fatal(Price()) }'),
        }

    @property
    def go_mod(self) -> str:
        return f'{GO_MOD["go.mod"]}\nrequire {self.module} v1.0.0\n'


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnProxy]:
    """The machine's module cache is used, for what is compiled in it: the host's folders are removed."""
    host = f'coevo-{secrets.token_hex(8)}.example'
    with module_server() as served:
        monkeypatch.setenv('GOPROXY', served.url)
        monkeypatch.setenv('GOSUMDB', 'off')
        yield OwnProxy(server=served, host=host)
    for folder in (locate_module_cache() / host, locate_module_cache() / 'cache/download' / host):
        shutil.rmtree(folder, ignore_errors=True)


def test_module_from_the_proxy_has_its_version_as_of_the_day_of_the_pair(
    tmp_path: Path, proxy: OwnProxy
) -> None:
    proxy.server.add('v1.0.0', 2018, proxy.module)
    proxy.server.add('v1.0.1', 2090, proxy.module)
    with opened(tmp_path, [proxy.shop]) as found:
        assert found.verdict('TestPrice').outcome is Outcome.PASS
    assert not [path for path in proxy.server.asked if 'v1.0.1.zip' in path]


def test_faulty_module_proxy_is_a_transient_error_and_no_verdict(
    tmp_path: Path, proxy: OwnProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.server.status = 503
    monkeypatch.setattr('coevo.storage.fetching._PAUSE', 0.01)
    with (
        pytest.raises(Transient, match='cannot be fetched'),
        opened(tmp_path, [{**proxy.shop, 'go.mod': proxy.go_mod}]),
    ):
        pass


def test_missing_module_named_like_a_server_fault_is_a_build_failure(
    tmp_path: Path, proxy: OwnProxy
) -> None:
    names = (f'{proxy.host}/503 v1.0.0', f'{proxy.host}/timeout v1.503.0', f'{proxy.module} v1.0.0')
    go_mod = GO_MOD['go.mod'] + ''.join(f'require {name}\n' for name in names)
    with opened(tmp_path, [{**proxy.shop, 'go.mod': go_mod}]) as found:
        failure = found.built.new.failure or ''
    assert failure
    assert '127.0.0.1' not in failure


def test_module_whose_hash_differs_from_go_sum_is_a_build_failure(
    tmp_path: Path, proxy: OwnProxy
) -> None:
    proxy.server.add('v1.0.0', 2018, proxy.module)
    wrong = f'h1:{"A" * 43}='
    sums = f'{proxy.module} v1.0.0 {wrong}\n{proxy.module} v1.0.0/go.mod {wrong}\n'
    with opened(tmp_path, [{**proxy.shop, 'go.mod': proxy.go_mod, 'go.sum': sums}]) as found:
        assert 'checksum mismatch' in (found.built.new.failure or '')
    assert not (locate_module_cache() / f'{proxy.module}@v1.0.0').exists()


@pytest.mark.parametrize('module', ['/victim', '../' * 12 + 'victim', 'example.org/x/../../victim'])
def test_module_path_outside_the_tree_fails_the_build_and_touches_no_file(
    tmp_path: Path, module: str
) -> None:
    victim = tmp_path / 'victim'
    victim.mkdir()
    (victim / 'precious.txt').write_text('precious')
    path = module.replace('victim', str(victim).lstrip('/'))
    with opened(tmp_path, [{**FILES, 'go.mod': f'module {path}\n\ngo 1.21\n'}]) as found:
        assert (found.built.new.failure or '').startswith('module_path:')
    assert [path.name for path in victim.iterdir()] == ['precious.txt']


def test_replace_directive_cannot_reach_a_folder_of_the_host(
    tmp_path: Path, proxy: OwnProxy
) -> None:
    host = tmp_path / 'host'
    host.mkdir()
    (host / 'go.mod').write_text(f'module {proxy.module}\n')
    (host / 'shelf.go').write_text('package shelf\n\nfunc Stock() int { return 0 }\n')
    go_mod = f'{proxy.go_mod}replace {proxy.module} => {host}\n'
    with opened(tmp_path / 'work', [{**proxy.shop, 'go.mod': go_mod}]) as found:
        assert found.built.new.failure is not None

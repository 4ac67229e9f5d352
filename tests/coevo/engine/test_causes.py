"""Why a test is broken: the code, a library, a setting, the machine, or the test itself."""

from __future__ import annotations

import pytest

from coevo.languages.java.building.compilation import is_syntax_error
from coevo.languages.java.processes.workarounds import name_withheld_resource
from coevo.model.words import BreakageCause, Label, Track
from tests.once import mined_once
from tests.projects import Mined, junit, pom, source, write

MODE = """<build><plugins><plugin>
  <artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version>
  <configuration><systemPropertyVariables><mode>{}</mode></systemPropertyVariables></configuration>
</plugin></plugins></build>"""

OLD_TILL = """\
    public static int price() { return 1; }
    public static int rings() { return 1; }
    public static int calls() { return 1; }
"""
NEW_TILL = """\
    public static int price() { return 2; }
    public static int rings() { return 2 - 1; }
    public static int calls() throws Exception {
        return java.net.InetAddress.getByName("shop.invalid").getAddress().length;
    }
"""
PHONE = 'java.net.InetAddress.getByName("shop.invalid");'


def library(check: str) -> dict[str, str]:
    """A test that may need a library's newer version."""
    (text,) = junit('LibraryTest', f'throwing: Till.rings(); {check}').values()
    no = '{\n    static void no() { throw new LinkageError(); }\n'
    return {'src/test/java/shop/LibraryTest.java': text.replace('{\n', no, 1)}


@pytest.fixture(scope='module')
def causes(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """The POM changes junit and a system property while the code changes; then a test is mended."""
    folder = tmp_path_factory.mktemp('causes')
    first = {
        'pom.xml': pom(MODE.format('old')),
        **source('Till', OLD_TILL),
        **junit('PriceTest', 'sells: assertEquals(1, Till.price());'),
        **library('assertThrows(Error.class, LibraryTest::no);'),
        **junit(
            'ModeTest', 'reads: Till.rings(); assertEquals("old", System.getProperty("mode"));'
        ),
        **junit('CallTest', 'calls: assertEquals(1, Till.calls());'),
        **junit('PhoneTest', f'phones: Till.price(); {PHONE}'),
        **junit('TornTest', 'torn: assertEquals(1, Till.rings()'),
    }
    second = {
        'pom.xml': pom(MODE.format('new')).replace('4.13.2', '4.12'),
        **source('Till', NEW_TILL),
        **junit('PriceTest', 'sells: assertEquals(2, Till.price());'),
        **library('try { no(); fail(); } catch (LinkageError expected) { }'),
        **junit(
            'ModeTest', 'reads: Till.rings(); assertEquals("new", System.getProperty("mode"));'
        ),
        **junit('CallTest', 'calls: assertNotNull(Till.class);'),
        **junit('PhoneTest', f'phones: Till.rings(); {PHONE}'),
    }
    third = {
        **source('Till', NEW_TILL + '    public static int last() { return 1; }\n'),
        **junit('TornTest', 'torn: assertEquals(1, Till.rings());'),
    }
    return mined_once(write(folder / 'repository', [first, second, third]), folder / 'store')


@pytest.mark.jvm
@pytest.mark.parametrize(
    ('name', 'label', 'cause', 'track'),
    [
        ('sells', Label.UPDATE, BreakageCause.PRODUCTION, Track.UPDATE),
        ('throwing', Label.UPDATE, BreakageCause.BUILD, None),
        ('reads', Label.UPDATE, BreakageCause.BUILD, None),
        ('calls', Label.UPDATE, BreakageCause.ENVIRONMENT, None),
        ('torn', Label.REPAIR, BreakageCause.SYNTAX, Track.REPAIR),
    ],
)
def test_broken_test_is_labelled_with_its_cause(
    causes: Mined, name: str, label: Label, cause: BreakageCause, track: Track | None
) -> None:
    row = causes.method(name)
    assert (row.label, row.cause, row.track) == (label, cause, track)


@pytest.mark.jvm
def test_cause_that_costs_a_label_its_track_is_recorded_as_a_drop(causes: Mined) -> None:
    names = {row.method_id: row.test_method for row in causes.methods}
    lost = {(names[d.key], d.reason) for d in causes.drops if d.key in names}
    assert lost == {
        ('throwing', 'cause_build'),
        ('reads', 'cause_build'),
        ('calls', 'cause_environment'),
    }


@pytest.mark.jvm
def test_drop_detail_names_the_failure_and_its_environment_cause(causes: Mined) -> None:
    (drop,) = (drop for drop in causes.drops if drop.reason == 't_new_c_new_error')
    assert drop.detail.startswith('java.net.UnknownHostException@')
    assert drop.detail.endswith(', environment: network')


@pytest.mark.parametrize(
    ('types', 'message', 'found'),
    [
        (['java.io.IOException', 'java.net.UnknownHostException'], 'a.invalid', 'network'),
        (['java.net.ConnectException'], 'Connection refused', None),
        (['java.net.ConnectException'], 'Network is unreachable', 'network'),
        (['java.awt.HeadlessException'], '', 'display'),
        (['java.security.cert.CertificateExpiredException'], 'NotAfter', 'clock'),
        (['java.lang.NoClassDefFoundError'], 'javax/xml/bind/JAXBContext', 'jdk'),
        (['java.lang.NoClassDefFoundError'], 'shop/Till', None),
        (['java.lang.IllegalAccessError'], 'class A cannot access module java.base', 'jdk'),
        (['java.lang.IllegalAccessError'], 'tried to access field shop.Till.price', None),
        (
            ['org.x.E', 'java.lang.IllegalArgumentException'],
            'Java 17 (61) is not supported',
            'bytecode',
        ),
        (['java.lang.IllegalArgumentException'], 'a price is not supported', None),
        (['java.lang.AssertionError'], 'java.net.UnknownHostException', None),
    ],
)
def test_failure_is_attributed_to_the_resource_that_the_machine_withholds(
    types: list[str], message: str, found: str | None
) -> None:
    assert name_withheld_resource(types, message) == found


@pytest.mark.parametrize(
    ('signature', 'syntax'),
    [
        ('expected ;', True),
        ("expected3 ',', ')', or '['", True),
        ('premature.eof', True),
        ('illegal.start.of.expr', True),
        ('unclosed.str.lit', True),
        ('cant.resolve.location method till()', False),
        ('unreported.exception.need.to.catch.or.throw', False),
        ('module_absent', False),
    ],
)
def test_parser_errors_are_recognised_as_syntax_errors(signature: str, syntax: bool) -> None:
    assert is_syntax_error(signature) is syntax

"""Repositories broken at random: names, links, sizes, encodings, options, modes, nesting, history."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.fuzz.bytes_of import broken
from tests.fuzz.objects import Item, Objects
from tests.projects import pom

MAIN, TEST = b'src/main/java/shop/', b'src/test/java/shop/'
_PLAIN, _PROGRAM, _LINK, _MODULE = b'100644', b'100755', b'120000', b'160000'

_SOURCE = b'package shop;\n\npublic class %b {\n    public static int price(int n) { return %b * n; }\n%b}\n'
_TESTS = (
    b'package shop;\n\nimport org.junit.Test;\nimport static org.junit.Assert.assertEquals;\n\n'
    b'public class %b {\n    @Test public void costs() { assertEquals(%b, Till.price(1)); }\n%b}\n'
)
_MEMBERS = (
    b'    static class $Outer { class $Inner { @org.junit.Test public void a() { Till.price(1); } } }\n',
    b'    class A$B {} class A { class B {} }\n',
    b'    @Test public void \xc3\xa9t\xc3\xa9() { Till.price(3); }\n',
    b'    @Test public void l\xe9ger() { Till.price(3); }\n',
    b'    @Test public void \\u0061b() { Till.price(4); }\n',
    b'    String text = """\n        a\n      """;\n    record R(int a) { R { } }\n',
    b'    @Test public void nested() { new Object() { void a() { class L { } new L(); } }; }\n',
    b'    int ' + b', '.join(b'f%d' % number for number in range(300)) + b';\n',
    b'    enum E { A { void a() {} }, B; void a() {} }\n    sealed interface S permits T {}\n',
    b'class N {' * 60 + b'}' * 60 + b'\n',
    b'    int a = ' + b'(' * 400 + b'1' + b')' * 400 + b';\n',
    b'    String s = "a"' + b' + "b"' * 1500 + b';\n',
    b'    /* unclosed\n',
    b'    @Nested class Inner { @Test public void deep() { Till.price(5); } }\n' * 3,
    b'',
)
_WORDS = (
    *(
        b'$',
        b'{',
        b'}',
        b'class',
        b'@Test',
        b'\0',
        b'\xff\xfe',
        b'\xef\xbb\xbf',
        b'"""',
        b'/*',
        b'*/',
    ),
    *(
        b'<T extends',
        b'...',
        b'->',
        b'\\u',
        b'\\u0022',
        b'import static a.*;',
        b'package',
        b'\x1a',
        b'\t',
    ),
    *(b'\xe2\x80\xae', '🎉'.encode(), b'interface', b'=', b';' * 50, b'@interface', b'non-sealed'),
)
_NAMES = (
    *(
        b'$Outer.java',
        b'A$B.java',
        '\u00e9t\u00e9.java'.encode(),
        b'l\xe9ger.java',
        b'a b.java',
        b'"q".java',
    ),
    *(
        b'-r.java',
        b'new\nline.java',
        b'tab\t.java',
        b'\\.java',
        b'%s.java',
        b'.java',
        b'x' * 251 + b'.java',
    ),
    *(
        b'y' * 300 + b'.java',
        b'CON.java',
        b'aux',
        b'package-info.java',
        b'module-info.java',
        b'*.java',
    ),
    *(
        b'Till.JAVA',
        b'TILL.java',
        b'a+b.java',
        b'.gitattributes',
        b'.gitmodules',
        b'.mvn/jvm.config',
    ),
    *(
        b'd/' * 60 + b'Deep.java',
        b'n/' * 600 + b'Deeper.java',
        '\u202e.java'.encode(),
        b'\x1b[31m.java',
    ),
)
_POMS = (
    *(
        b'',
        b'<project/>',
        b'<project>',
        b'\xff\xfe<\0p\0',
        b'<!DOCTYPE a [<!ENTITY b "c">]><project>&b;</project>',
    ),
    pom('<build><testSourceDirectory>../../..</testSourceDirectory></build>').encode(),
    pom('<build><sourceDirectory>/</sourceDirectory></build>').encode(),
    pom('<build><sourceDirectory>${env.HOME}</sourceDirectory></build>').encode(),
    pom('<modules><module>.</module><module>../x</module></modules>').encode(),
    pom('<properties><argLine>-Djava.security.manager @x -jar y</argLine></properties>').encode(),
    pom('<properties><maven.compiler.release>²</maven.compiler.release></properties>').encode(),
    pom('<properties><java.version>999999999999</java.version></properties>').encode(),
    b'<?xml version="1.0" encoding="nonsense"?><project/>',
)
_HEADERS = (
    b'author A <a@b> %d +0000\ncommitter A <a@b> %d +0000',
    b'author A <a@b> %d +9999\ncommitter \xe9 <> %d -0000\nencoding nonsense',
    b'author %d\ncommitter A <a@b> %d +0000',
    b'author A <a@b> -%d +0000\ncommitter A <a@b> -%d +0000',
    b'author A <a@b> 9%d99999999999999 +0000\ncommitter A <a@b> 9%d99999999999999 +0000',
    b'author A <a@b> %d +0000\ncommitter A <a@b> \xc2\xb2%d +0000\ngpgsig -----\n x\n  y',
    b'x %d %d',
)


def write(seed: int, folder: Path) -> Path:
    """A repository of a few commits; its Git folder. The first commits of most are sound."""
    random = Random(seed)
    objects = Objects(folder)
    files: dict[bytes, tuple[bytes, bytes]] = {
        b'pom.xml': (_PLAIN, pom().encode()),
        MAIN + b'Till.java': (_PLAIN, _SOURCE % (b'Till', b'10', b'')),
        TEST + b'TillTest.java': (_PLAIN, _TESTS % (b'TillTest', b'10', b'')),
    }
    revs: list[str] = []
    for number in range(random.randint(3, 6)):
        more: tuple[Item, ...] = ()
        for _ in range(random.randint(1, 3) if number else 0):
            more += _change(random, files)
        parents = revs[-1:]
        if len(revs) > 2 and random.random() < 0.2:
            parents = random.sample(revs, random.randint(0, 3))
        header = _HEADERS[0] if random.random() < 0.8 else random.choice(_HEADERS)
        stamp = 1_700_000_000 + 3600 * number
        tree = objects.tree(files, more)
        revs.append(objects.commit(tree, parents, header % (stamp, stamp), b'step %d' % number))
    objects.point('refs/heads/main', revs[-1])
    (objects.git_dir / 'HEAD').write_text('ref: refs/heads/main\n')
    if random.random() < 0.1:
        _lose(random, objects.git_dir)
    return objects.git_dir


def _change(random: Random, files: dict[bytes, tuple[bytes, bytes]]) -> tuple[Item, ...]:
    kind = random.randrange(9)
    number = b'%d' % random.randrange(100)
    if kind in (0, 1):
        files[MAIN + b'Till.java'] = _PLAIN, _SOURCE % (b'Till', number, random.choice(_MEMBERS))
        members = b''.join(random.sample(_MEMBERS, 2))
        files[TEST + b'TillTest.java'] = _PLAIN, _TESTS % (b'TillTest', number, members)
    elif kind in (2, 3):
        path = random.choice(sorted(files))
        mode, content = files[path]
        files[path] = mode, _odd(random, broken(random, content, _WORDS))
    elif kind == 4:
        text = _TESTS % (b'$Odd', number, random.choice(_MEMBERS))
        files[random.choice((MAIN, TEST, b'')) + random.choice(_NAMES)] = _PLAIN, text
    elif kind == 5:
        files[b'pom.xml'] = _PLAIN, random.choice(_POMS)
    elif kind == 6:
        target = random.choice(
            (b'../../../etc/passwd', b'/etc', b'.', b'Till.java', b'', b'a\0b', b'x' * 5000)
        )
        files[random.choice((MAIN, TEST)) + b'Link.java'] = _LINK, target
    elif kind == 7:
        path = random.choice(sorted(files))
        mode, content = files.pop(path)
        files[path.replace(b'shop', random.choice((b'SHOP', b'sh\xc3\xb6p', b's$op')))] = (
            mode,
            content,
        )
    else:
        return (_entry(random),)
    return ()


def _odd(random: Random, content: bytes) -> bytes:
    return random.choice(
        (
            content,
            b'',
            b'\xef\xbb\xbf' + content,
            content.replace(b'\n', b'\r\n'),
            content.decode('latin-1').encode('utf-16'),
            content * 3,
            b'// ' + b'x' * 200_000 + b'\n' + content,
        )
    )


def _entry(random: Random) -> Item:
    """What may stand in a tree object, whoever made it."""
    return random.choice(
        (
            Item(name=b'sub', mode=_MODULE, oid='1' * 40),
            Item(name=b'src', mode=_PLAIN, content=b'a file where a folder is'),
            Item(name=b'..', mode=b'40000', oid='4b825dc642cb6eb9a060e54bf8d69288fbee4904'),
            Item(name=b'.git', mode=_PLAIN, content=b'gitdir: /tmp'),
            Item(name=b'', mode=_PLAIN),
            Item(name=b'a/b', mode=_PLAIN),
            Item(name=b'odd.java', mode=b'100600', content=b'class Odd {}'),
            Item(name=b'run.java', mode=_PROGRAM, content=b'class Run {}'),
            Item(name=b'none.java', mode=b'', content=b'class None {}'),
            Item(name=b'mode.java', mode=b'9x', content=b'class Mode {}'),
            Item(name=b'lost.java', mode=_PLAIN, oid='2' * 40),
            Item(name=b'gone', mode=b'40000', oid='3' * 40),
        )
    )


def _lose(random: Random, git_dir: Path) -> None:
    """One object is damaged."""
    loose = sorted((git_dir / 'objects').glob('??/*'))
    place = random.choice(loose)
    data = place.read_bytes()
    place.write_bytes(random.choice((b'', data[: len(data) // 2], b'x' + data)))

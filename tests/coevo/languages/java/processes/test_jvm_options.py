"""What of an argLine a test JVM is given."""

from __future__ import annotations

import pytest

from coevo.languages.java.processes.plan import select_usable_options

MADE = '/w/build/core/target/dependencies'


@pytest.mark.parametrize(
    ('line', 'given'),
    [
        ('-Xmx2g -ea -javaagent:a.jar', '-Xmx2g -ea'),
        ('-Xms2g -XX:+UseParallelGC -Dx=@{late}', ''),
        (
            '--add-opens java.base/java.lang=ALL-UNNAMED',
            '--add-opens java.base/java.lang=ALL-UNNAMED',
        ),
        # Maven copies libraries to where the path leads, all of which are on the class path.
        (f'--add-modules org.ring --module-path {MADE} -Xmx1g', '-Xmx1g'),
        (f'-p {MADE}:target/classes --add-modules=org.ring,java.sql', '--add-modules=java.sql'),
        (f'--module-path={MADE} --add-modules ALL-SYSTEM', '--add-modules=ALL-SYSTEM'),
        ('--add-modules javafx.base -p lib/javafx', '--add-modules javafx.base -p lib/javafx'),
        ('--add-modules java.sql', '--add-modules java.sql'),
        ('-jar other.jar -Xmx1g', '-Xmx1g'),
    ],
)
def test_usable_options_of_an_argline_are_given_to_the_test_jvm(line: str, given: str) -> None:
    assert ' '.join(select_usable_options(line)) == given

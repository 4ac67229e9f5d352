"""What logs in to a URL is neither printed, nor kept, nor part of a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.display import credentials
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from flows.batches.jobs import BatchJob
from flows.batches.jobs import Verb
from miners.cloning.clones import obtain

SECRET = 'hunter2'


@pytest.mark.parametrize(
    ('url', 'hidden', 'kept'),
    [
        ('https://e.org/x.git', 'https://e.org/x.git', 'https://e.org/x.git'),
        ('https://ada@e.org/x', 'https://***@e.org/x', 'https://e.org/x'),
        (f'https://ada:{SECRET}@e.org/x', 'https://***@e.org/x', 'https://e.org/x'),
        (f'https://ada:p@{SECRET}@e.org/x', 'https://***@e.org/x', 'https://e.org/x'),
        (f'https://ada:p/{SECRET}@e.org/x', 'https://***@e.org/x', 'https://e.org/x'),
        (f'https://ada:p?{SECRET}#@e.org/x', 'https://***@e.org/x', 'https://e.org/x'),
        (f'https://:{SECRET}@e.org/x', 'https://***@e.org/x', 'https://e.org/x'),
        (f'https://e.org/x?token={SECRET}', 'https://e.org/x?token=***', 'https://e.org/x'),
        (f'https://e.org/x?{SECRET}', 'https://e.org/x?***', 'https://e.org/x'),
        (
            f'https://e.org/x?a=1&X-Amz-Signature={SECRET}',
            'https://e.org/x?a=***&X-Amz-Signature=***',
            'https://e.org/x',
        ),
        (f'https://e.org/x#token={SECRET}', 'https://e.org/x#token=***', 'https://e.org/x'),
        ('https://e.org:8080/x@1.2', 'https://e.org:8080/x@1.2', 'https://e.org:8080/x@1.2'),
        ('s3://bucket/2024-01', 's3://bucket/2024-01', 's3://bucket/2024-01'),
        ('example/ferry', 'example/ferry', 'example/ferry'),
    ],
)
def test_a_url_is_shown_and_kept_without_what_logs_in(url: str, hidden: str, kept: str) -> None:
    assert credentials.hidden(url) == hidden
    assert credentials.without(url) == kept


def test_every_url_of_a_text_is_found() -> None:
    text = f"cannot read 'https://a:{SECRET}@e.org' (http://e.org/?k={SECRET}): try https://e.org."
    assert credentials.hidden(text) == (
        "cannot read 'https://***@e.org' (http://e.org/?k=***): try https://e.org."
    )


URLS = [
    f'http://ada:p@{SECRET}@127.0.0.1:1/ferry.git',
    f'http://127.0.0.1:1/ferry.git?token={SECRET}',
    f'http://ada:p/{SECRET}@127.0.0.1:1/ferry.git',
]


@pytest.mark.parametrize('url', URLS)
def test_what_logs_in_to_a_source_is_in_no_name_and_no_sentence(tmp_path: Path, url: str) -> None:
    with pytest.raises((Fatal, Transient)) as caught:
        obtain(url, store=tmp_path)
    assert SECRET not in str(caught.value)
    assert SECRET not in ' '.join(str(path) for path in tmp_path.rglob('*'))
    assert SECRET not in BatchJob(verb=Verb.MINE, source=url, store='s').name


@pytest.mark.parametrize('verb', ['verify', 'query', 'prompt'])
@pytest.mark.parametrize('url', URLS)
def test_nor_is_what_logs_in_to_a_snapshot(
    verb: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, url, *(['x'] if verb == 'prompt' else [])]) in (1, 2, 3)
    said = capsys.readouterr()
    assert said.err
    assert SECRET not in said.err + said.out

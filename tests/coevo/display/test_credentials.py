"""What logs in to a URL is neither printed, nor kept, nor part of a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.display import terminal
from coevo.model.errors import Fatal, Transient
from flows.batches.batch import BatchJob, Verb
from miners.cloning.clones import obtain_clone

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
def test_url_is_shown_and_stored_without_its_credentials(url: str, hidden: str, kept: str) -> None:
    assert terminal.hide_credentials(url) == hidden
    assert terminal.strip_credentials_and_query(url) == kept


def test_credentials_of_every_url_in_a_text_are_hidden() -> None:
    text = f"cannot read 'https://a:{SECRET}@e.org' (http://e.org/?k={SECRET}): try https://e.org."
    assert terminal.hide_credentials(text) == (
        "cannot read 'https://***@e.org' (http://e.org/?k=***): try https://e.org."
    )


URLS = [
    f'http://ada:p@{SECRET}@127.0.0.1:1/ferry.git',
    f'http://127.0.0.1:1/ferry.git?token={SECRET}',
    f'http://ada:p/{SECRET}@127.0.0.1:1/ferry.git',
]


@pytest.mark.parametrize('url', URLS)
def test_source_credentials_appear_in_no_path_job_name_or_error(tmp_path: Path, url: str) -> None:
    with pytest.raises((Fatal, Transient)) as caught:
        obtain_clone(url, store=tmp_path)
    assert SECRET not in str(caught.value)
    assert SECRET not in ' '.join(str(path) for path in tmp_path.rglob('*'))
    assert SECRET not in BatchJob(verb=Verb.MINE, source=url, store='s').repository_name


@pytest.mark.parametrize('verb', ['verify', 'query', 'prompt'])
@pytest.mark.parametrize('url', URLS)
def test_snapshot_url_credentials_are_never_printed(
    verb: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, url, *(['x'] if verb == 'prompt' else [])]) in (1, 2, 3)
    said = capsys.readouterr()
    assert said.err
    assert SECRET not in said.err + said.out

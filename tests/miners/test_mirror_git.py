"""What Git says of trouble with a mirror."""

from __future__ import annotations

import pytest

from miners.cloning.mirror_git import NO_SPACE

OURS = (
    'fatal: write error: No space left on device',
    'error: file write error: Disk quota exceeded\nfatal: unpack-objects failed',
    'fatal: mmap failed: Cannot allocate memory',
    "fatal: sha1 file '/store/clones/a.git/objects/pack/tmp_pack_x' write error: No space left on device",
)
NOT_OURS = (
    'remote: fatal: write error: No space left on device\nfatal: the remote end hung up',
    "fatal: repository 'https://example.org/No space left on device/x' not found",
    "fatal: couldn't find remote ref No space left on device: x",
    'fatal: unable to access: Could not resolve host',
)


@pytest.mark.parametrize('complaint', OURS)
def test_a_full_disk_of_this_machine_is_recognised(complaint: str) -> None:
    assert NO_SPACE.search(complaint)


@pytest.mark.parametrize('complaint', NOT_OURS)
def test_remote_message_or_name_is_not_taken_for_a_full_local_disk(complaint: str) -> None:
    assert not NO_SPACE.search(complaint)

"""One changed declaration undone in the new version of its file, everything else left as it is."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.measures.counterparts import Standing
from coevo.measures.counterparts import like
from coevo.records import Revised
from coevo.syntax import Import
from coevo.syntax import Member
from coevo.text_edits import Edits
from coevo.text_edits import indentation


def undone(revised: Revised, old: Standing | None, new: Standing) -> bytes:
    """The file at new with one method or constructor as it was.

    A modified one gets its old text, an inserted one goes, a removed one is put back behind the
    member that it stood behind. Imports that the old text names and new lacks come with it. `new`
    has the declaration unless it was removed, `old` unless it was inserted.
    """
    edits = Edits(new.source)
    if revised is Revised.INSERTED:
        assert new.member is not None
        edits.cut(new.member.full_start_byte, new.member.end_byte)
        return edits.result()
    assert old is not None
    assert old.member is not None
    text = old.source[old.member.start_byte : old.member.end_byte]
    if revised is Revised.MODIFIED:
        assert new.member is not None
        edits.replace(new.member.start_byte, new.member.end_byte, text)
    else:
        _put_back(edits, old, new, text)
    _bring_imports(edits, old, new)
    return edits.result()


def _put_back(edits: Edits, old: Standing, new: Standing, text: bytes) -> None:
    assert old.member is not None
    margin = indentation(old.source, old.member.start_byte)
    before, after = _neighbours(old, new)
    if before is not None:
        edits.insert(before.end_byte, b'\n\n' + margin + text)
    elif after is not None:
        edits.insert(after.start_byte, text + b'\n\n' + margin)
    else:
        # The constants of an enum end with a semicolon if members follow; one more does no harm.
        start = b';\n' if new.type.kind == 'enum' else b'\n'
        edits.insert(new.type.end_byte - 1, start + margin + text + b'\n')


def _neighbours(old: Standing, new: Standing) -> tuple[Member | None, Member | None]:
    """The members at new between which a removed one stood, as far as they are still there."""
    assert old.member is not None
    place = old.type.members.index(old.member)
    above = (like(member, new.type) for member in old.type.members[:place][::-1])
    below = (like(member, new.type) for member in old.type.members[place + 1 :])
    return next(filter(None, above), None), next(filter(None, below), None)


def _bring_imports(edits: Edits, old: Standing, new: Standing) -> None:
    lacking = list(_lacking(old, new))
    if not lacking:
        return
    lines = [old.source[one.start_byte : one.end_byte] for one in lacking]
    if new.file.imports:
        edits.insert(new.file.imports[-1].end_byte, b''.join(b'\n' + line for line in lines))
    else:
        start = min(type_.start_byte for type_ in new.file.types)
        edits.insert(start, b''.join(line + b'\n' for line in lines))


def _lacking(old: Standing, new: Standing) -> Iterator[Import]:
    """Imports of the old file that its text names and the new file does not have."""
    assert old.member is not None
    known = {_key(one) for one in new.file.imports}
    for one in old.file.imports:
        if _key(one) not in known and (one.name == '*' or one.name in old.member.names):
            yield one


def _key(one: Import) -> tuple[bool, str, str]:
    return one.static, one.text, one.name

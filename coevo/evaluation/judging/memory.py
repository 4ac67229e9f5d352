"""Results that are found once for each task and kept in the ledger, whatever the predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.ledger import Ledger
from coevo.model import codec

Entry = TypeVar('Entry')


def recall_or_ask(
    ledger: Ledger | None,
    assignment: Assignment,
    what: tuple[str, ...],
    kind: type[Entry],
    ask: Callable[[], Entry],
) -> Entry:
    """Return the ledger's entry of a task under the keys `what`; else compute and store it.

    Without a ledger it is always computed.
    """
    data = ledger.read(assignment, *what) if ledger is not None else None
    if data is not None:
        return codec.decode_record(kind, data)
    entry = ask()
    if ledger is not None:
        ledger.write_entry(codec.encode_record(entry), assignment, *what)
    return entry

"""Write the reasons of the filters to a file that `coevo` reads.

The package `coevo` must not import filters.

`make docs` runs this. A reason keeps its place in the list, and stays when its filter is removed: a
released snapshot may contain it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from coevo.model import reasons
from coevo.model.column import Choice
from coevo.model.words import Stage
from filters import FILTERS_BY_STAGE

FILE = Path(reasons.__file__).with_name('filter_reasons.toml')  # own name: beside our own module

_HEAD = """\
# The reasons of the filters, by stage and in the order in which they are listed.
# `make docs` takes them from the filters and adds new ones; one that was released is never renamed.
"""


def render_reasons_toml(known: Mapping[Stage, Mapping[str, str]] = reasons.FILTER_REASONS) -> str:
    """Return the text of the file of reasons, with the present sentence of each reason.

    Within a stage the known reasons come first, in their order, then new ones.
    """
    return '\n'.join((_HEAD, *(_render_stage_as_toml(stage, known) for stage in FILTERS_BY_STAGE)))


def _render_stage_as_toml(stage: Stage, known: Mapping[Stage, Mapping[str, str]]) -> str:
    sentences = {**known.get(stage, {}), **dict(_list_reason_sentences(stage))}
    lines = (
        f'{name} = {json.dumps(text, ensure_ascii=False)}\n' for name, text in sentences.items()
    )
    return ''.join((f'[{stage}]\n', *lines))


def _list_reason_sentences(stage: Stage) -> Iterator[tuple[str, str]]:
    for filter_ in FILTERS_BY_STAGE[stage]:
        # The reasons that the diff gives (filter `content`) have their sentences in `coevo`
        # already.
        if issubclass(filter_.Reason, Choice):
            yield from ((reason.value, reason.clause) for reason in filter_.Reason)


if __name__ == '__main__':
    FILE.write_text(render_reasons_toml(), encoding='utf-8')

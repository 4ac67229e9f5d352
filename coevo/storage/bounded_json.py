"""Parse untrusted JSON within a memory limit.

A parsed text may take thirty times its size: `[],` has three bytes, but an empty list in a list
takes 64. Therefore values are counted in the text before any object is made.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

from coevo.storage.bounded_reading import ContentTooLarge, UnreadableContent

# A string, or a mark that an element follows. An unclosed string ends with the input. The
# quantifiers are possessive, so that time and memory grow linearly with the input.
_PART = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[,\[{]', re.DOTALL)


def parse_json(content: bytes, *, most_values: int) -> Any:
    """Return the value of a JSON text in UTF-8.

    most_values  limit for strings, lists, objects and further elements of both; each takes up to
                 250 bytes of memory besides its text

    Raises: UnreadableContent if the text is not JSON, is nested too deeply or has a number with too
    many digits; ContentTooLarge for too many values.
    """
    if next(islice(_PART.finditer(content), most_values, None), None) is not None:
        raise ContentTooLarge(f'has more than {most_values} values')
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        raise UnreadableContent('is no JSON that can be read') from None

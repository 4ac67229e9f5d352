"""JSON of strangers, parsed within a bound of memory.

Parsed, a text may take thirty times its bytes: `[],` is three of them, and an empty list in a list is 64. So values are counted
on the bytes before any object is made.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

from coevo.storage.bounded_reading import ContentTooLarge, UnreadableContent

# A text in quotation marks, or a mark that an element follows. A text that is not closed ends with the input. Possessive,
# so that time and memory grow with the input alone.
_PART = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[,\[{]', re.DOTALL)


def parse_json(content: bytes, *, most_values: int) -> Any:
    """Return the value of a JSON text in UTF-8.

    most_values  texts, lists, objects and further elements of both. Each takes up to 250 bytes of memory, beside the text
                 itself.

    Raises: Unreadable for what is no JSON, is nested too deeply or has a number of too many digits; TooLarge.
    """
    if next(islice(_PART.finditer(content), most_values, None), None) is not None:
        raise ContentTooLarge(f'has more than {most_values} values')
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        raise UnreadableContent('is no JSON that can be read') from None
